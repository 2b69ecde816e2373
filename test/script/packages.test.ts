import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { imageLabels } from "../../script/lib/image-labels.mjs";
import { PACKAGES } from "../../script/lib/packages.mjs";
import { publicAddress, repositoryOf } from "../../script/lib/repository.mjs";
import { filesOfStart, manifestOf } from "../../script/lib/server-package.mjs";
import { root } from "../support/built.ts";

const run = promisify(execFile);

describe("the packages", () => {
  it("have the licence, the authors and the Node of the project", async () => {
    const own = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
    const licence = await readFile(join(root, "LICENSE"), "utf8");
    for (const { folder } of PACKAGES) {
      const { name, license, author, files } = JSON.parse(
        await readFile(join(root, folder, "package.json"), "utf8"),
      );
      expect({ license, author }, name).to.deep.equal({ license: own.license, author: own.author });
      expect(files, name).to.include("LICENSE");
      expect(await readFile(join(root, folder, "LICENSE"), "utf8"), name).to.equal(licence);
    }
  });

  it("name the repository that a remote is, whatever the way to it, and nothing that signs in to it", () => {
    const address = "git+https://git.example.test/headwater/headwater.git";
    for (const remote of [
      "https://git.example.test/headwater/headwater.git",
      "https://git.example.test/headwater/headwater/",
      "https://me:secret@git.example.test/headwater/headwater",
      "git@git.example.test:headwater/headwater.git",
      "ssh://git@git.example.test:2222/headwater/headwater.git",
    ]) {
      expect(publicAddress(remote), remote).to.equal(address);
    }
    for (const path of ["/srv/headwater", "../headwater.git", "file:///srv/headwater.git", ""]) {
      expect(publicAddress(path), path).to.equal(undefined);
    }
  });

  it("name the repository of the workflow that builds them", async () => {
    const env = { GITHUB_SERVER_URL: "https://git.example.test", GITHUB_REPOSITORY: "headwater/headwater" };
    expect(await repositoryOf(root, env)).to.equal("git+https://git.example.test/headwater/headwater.git");
  });

  it("are all that is called @headwater/… in the code, the documents and the deployment", async () => {
    const names: string[] = await Promise.all(
      PACKAGES.map(
        async ({ folder }) => JSON.parse(await readFile(join(root, folder, "package.json"), "utf8")).name,
      ),
    );
    const scoped = names.filter(name => name.startsWith("@"));
    expect(await found("@headwater/[a-z-]+", ":!test")).to.have.members(scoped);
  });
});

describe("the package headwater", () => {
  it("has the versions of the project, and nothing that only a checkout uses", async () => {
    const own = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
    const { dependencies, bin, ...others } = manifestOf(own);
    expect(others).to.not.have.any.keys("private", "scripts", "workspaces", "devDependencies");
    expect(bin).to.deep.equal({ headwater: "bin/headwater" });
    expect(dependencies).to.include(own.dependencies);
    for (const [name, version] of Object.entries(dependencies)) {
      expect(version, name).to.match(/^\d+\.\d+\.\d+$/);
      expect({ ...own.devDependencies, ...own.dependencies }[name], name).to.equal(version);
    }
  });

  it("has every script that a start needs, of which none imports a development dependency but what it brings", async () => {
    const scripts = await filesOfStart(root);
    expect(scripts).to.include.members(["script/lib/serve.mjs", "script/lib/supervisor.mjs"]);
    expect(scripts).to.not.include("script/lib/build.mjs");
    const { dependencies } = manifestOf(JSON.parse(await readFile(join(root, "package.json"), "utf8")));
    for (const file of scripts) {
      const text = await readFile(join(root, file), "utf8");
      const imported = [...text.matchAll(/(?:from|import\() ?"([^".][^"]*)"/g)].map(([, name = ""]) => name);
      for (const name of imported.filter(one => !one.startsWith("node:")))
        expect(dependencies, `${name} of ${file}`).to.have.property(name);
    }
  });
});

describe("the image", () => {
  it("has labels that say what it is, its version and where it comes from", async () => {
    const env = { GITHUB_SERVER_URL: "https://git.example.test", GITHUB_REPOSITORY: "headwater/headwater" };
    const { version, license } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
    const labels = await imageLabels(root, env);
    expect(labels).to.include({
      "org.opencontainers.image.title": "Headwater",
      "org.opencontainers.image.version": version,
      "org.opencontainers.image.licenses": license,
      "org.opencontainers.image.source": "https://git.example.test/headwater/headwater",
    });
    expect(labels["org.opencontainers.image.revision"]).to.match(/^[0-9a-f]{40}$/);
  });
});

/** Returns what the files that git has say that matches, each once. */
async function found(pattern: string, ...paths: string[]): Promise<string[]> {
  const args = ["grep", "-h", "-o", "-E", pattern, "--", ".", ...paths];
  const { stdout } = await run("git", args, { cwd: root, maxBuffer: 1 << 26 });
  return [...new Set(stdout.trim().split("\n"))];
}
