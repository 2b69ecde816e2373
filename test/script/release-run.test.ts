// runs-long: npm test has test/script/release.test.ts

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { root } from "../support/built.ts";

const run = promisify(execFile);

const AUTHOR = {
  GIT_AUTHOR_NAME: "Test",
  GIT_AUTHOR_EMAIL: "test@example.test",
  GIT_COMMITTER_NAME: "Test",
  GIT_COMMITTER_EMAIL: "test@example.test",
};

describe("npm run release", () => {
  let folder: string;
  const git = (...args: string[]) => run("git", args, { cwd: folder, env: { ...process.env, ...AUTHOR } });
  const release = (...args: string[]) =>
    run("npm", ["run", "--silent", "release", "--", ...args], {
      cwd: folder,
      env: { ...process.env, ...AUTHOR, GITHUB_REPOSITORY: "" },
    });
  const versionsOf = async () =>
    (await readdir(join(folder, "dist/packages"))).map(name => /-(\d.*)\.tgz$/.exec(name)?.[1]);

  // A clone of the files as they are now, committed or not.
  before(async () => {
    await mkdir(join(root, ".cache"), { recursive: true });
    folder = await mkdtemp(join(root, ".cache/release-"));
    const { stdout } = await run("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
      cwd: root,
      maxBuffer: 1 << 24,
    });
    for (const file of stdout.split("\0").filter(one => existsSync(join(root, one)) && one !== "")) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await cp(join(root, file), join(folder, file), { verbatimSymlinks: true });
    }
    // Links to files, on the same disk: what the release bundles must not be outside of its folder.
    await run("cp", ["-al", join(root, "node_modules"), join(folder, "node_modules")]);
    await git("init", "--quiet");
    await writeFile(join(folder, ".git/info/exclude"), "/node_modules\n");
    await git("add", ".");
    await git("commit", "--quiet", "--message", "all");
    await git("remote", "add", "origin", "https://git.example.test/headwater/headwater.git");
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it("builds everything in a dry run, and leaves the clone as it was", async () => {
    const { stdout } = await release("0.9.0", "--dry-run");
    expect(stdout).to.match(/0\.9\.0 can be released; nothing was committed/);
    expect(stdout).to.match(/CHANGELOG\.md[\s\S]*openapi\.json[\s\S]*package-lock\.json/);
    expect(await versionsOf()).to.deep.equal(["0.9.0", "0.9.0", "0.9.0", "0.9.0"]);
    expect((await git("status", "--porcelain")).stdout).to.equal("");
    expect((await git("tag", "--list")).stdout).to.equal("");
    expect((await git("rev-list", "--count", "HEAD")).stdout).to.equal("1\n");
  });

  it("commits and tags, with the version everywhere, and pushes nothing", async () => {
    const { stdout } = await release("0.9.0");
    expect(stdout).to.match(/nothing was pushed/);
    expect((await git("status", "--porcelain")).stdout).to.equal("");
    expect((await git("describe", "--exact-match")).stdout).to.equal("v0.9.0\n");
    const changelog = await readFile(join(folder, "CHANGELOG.md"), "utf8");
    expect(changelog).to.match(/^## \[Unreleased\]\n\n## \[0\.9\.0\] - \d{4}-\d\d-\d\d\n\n### Added$/m);
    const lock = JSON.parse(await readFile(join(folder, "package-lock.json"), "utf8"));
    expect([
      lock.version,
      lock.packages[""].version,
      lock.packages["clients/typescript"].version,
    ]).to.deep.equal(["0.9.0", "0.9.0", "0.9.0"]);
    const { info } = JSON.parse(await readFile(join(folder, "openapi.json"), "utf8"));
    expect(info.version).to.equal("0.9.0");
    await run("npm", ["run", "--silent", "document"], { cwd: folder });
  });
});
