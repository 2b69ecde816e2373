import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { PLACES, release, releasedChangelog } from "../../script/lib/release.mjs";
import { root } from "../support/built.ts";

const run = promisify(execFile);
const git = (folder: string, ...args: string[]) =>
  run("git", ["-c", "user.name=Test", "-c", "user.email=test@example.test", ...args], { cwd: folder });

const CHANGELOG = `# Changelog

## [Unreleased]

### Added

- A thing.

## [0.1.0] - 2026-11-21

- The first one.
`;

describe("the version", () => {
  it("is the same wherever it stands", async () => {
    const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
    const found = await Promise.all(
      PLACES.map(async ({ file, pattern }) => [
        file,
        pattern.exec(await readFile(join(root, file), "utf8"))?.[2],
      ]),
    );
    expect(found).to.have.length.above(4);
    expect(found).to.deep.equal(PLACES.map(({ file }) => [file, version]));
    expect(JSON.parse(await readFile(join(root, "openapi.json"), "utf8")).info.version).to.equal(version);
  });

  it("stands behind the name of nothing, where a release would leave it behind", async () => {
    const named = "[Hh]eadwater(/[a-z]+|-[a-z]+)?[-:@/]v?[0-9]+\\.[0-9]+\\.[0-9]+";
    const others = [":!test", ":!CHANGELOG.md", ":!openapi.json"];
    const args = ["grep", "--extended-regexp", "--line-number", named, "--", ".", ...others];
    // It ends with code 1 if it finds nothing.
    const { stdout } = await run("git", args, { cwd: root }).catch((error: { stdout: string }) => error);
    expect(stdout).to.equal("");
  });
});

describe("a release", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "headwater-release-"));
    await writeFile(join(folder, "package.json"), '{\n  "version": "0.1.0"\n}\n');
    await writeFile(join(folder, "CHANGELOG.md"), CHANGELOG);
    await git(folder, "init", "--quiet");
    await git(folder, "add", ".");
    await git(folder, "commit", "--quiet", "--message", "all");
    await git(folder, "remote", "add", "origin", "git@git.example.test:headwater/headwater.git");
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const attempt = (version: string) =>
    release({ root: folder, version, dryRun: true, today: "2026-11-29", say: () => {} }).then(
      () => "released",
      (error: Error) => error.message,
    );

  it("needs a version above the one before", async () => {
    for (const version of ["0.1.0", "0.0.9", "0.1.0-rc.1"]) {
      expect(await attempt(version)).to.equal(`${version} is not above 0.1.0, the version before`);
    }
    expect(await attempt("v0.2")).to.match(/^v0\.2 is not a version such as 0\.2\.0/);
  });

  it("needs all changes to be committed", async () => {
    await writeFile(join(folder, "new.txt"), "");
    expect(await attempt("0.2.0")).to.match(/changes that are not committed/);
  });

  it("needs a tag that is not there yet", async () => {
    await git(folder, "tag", "v0.2.0");
    expect(await attempt("0.2.0")).to.equal("there is a tag v0.2.0 already");
  });

  it("needs to know where its repository is", async () => {
    await git(folder, "remote", "set-url", "origin", "/srv/headwater");
    expect(await attempt("0.2.0")).to.match(/no remote `origin` with a public address/);
  });

  it("leaves the clone as it was if something fails on the way", async () => {
    // There is none of the other files in which a version stands.
    expect(await attempt("0.2.0")).to.match(/no such file/);
    expect(await readFile(join(folder, "CHANGELOG.md"), "utf8")).to.equal(CHANGELOG);
    expect((await git(folder, "status", "--porcelain")).stdout).to.equal("");
  });

  it("moves what is unreleased into a section of its own, and needs something there", () => {
    expect(releasedChangelog(CHANGELOG, "0.2.0", "2026-11-29")).to.equal(
      CHANGELOG.replace("## [Unreleased]\n", "## [Unreleased]\n\n## [0.2.0] - 2026-11-29\n"),
    );
    const empty = CHANGELOG.replace("### Added\n\n- A thing.\n\n", "");
    expect(() => releasedChangelog(empty, "0.2.0", "2026-11-29")).to.throw(/nothing below \[Unreleased\]/);
  });
});
