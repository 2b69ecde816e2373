import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { bundleComponent } from "../../src/components/bundle.ts";
import { fromCode } from "../../src/components/load-modules.ts";
import { PackageCache } from "../../src/components/package-cache.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { startNpmRegistry } from "../support/npm-registry.ts";
import { testConfig } from "../support/platform.ts";
import { rejection } from "./rejection.ts";

const KB = 1024;

describe("the folder of installed npm packages", () => {
  let folder: string;
  let cache: PackageCache;

  /** Adds a set of 100 KB that was used `minutes` minutes ago. */
  async function addSet(name: string, minutes: number): Promise<string> {
    const path = join(cache.folder, name);
    const isMeasured = name !== "unmeasured" && !name.startsWith(".");
    const building = isMeasured ? cache.newBuilding() : path;
    await mkdir(join(building, "node_modules"), { recursive: true });
    await writeFile(join(building, "node_modules", "file"), "x".repeat(100 * KB));
    await writeFile(join(building, "node_modules", ".package-lock.json"), "{}");
    if (isMeasured) await cache.publish(building, path);
    const usedAt = new Date(Date.now() - minutes * 60_000);
    await utimes(path, usedAt, usedAt);
    return path;
  }

  const names = async () => (await readdir(cache.folder)).sort();

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "headwater-packages-"));
    cache = new PackageCache(folder, 450 * KB);
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it("has the size of docs/limits.md by default", () => {
    expect(testConfig().packageCacheBytes).to.equal(LIMITS.packageCacheBytes.value);
  });

  it("loses the sets that were not used for the longest time, as many as necessary", async () => {
    for (const [name, minutes] of [
      ["new", 1],
      ["older", 30],
      ["unmeasured", 60],
      ["old", 90],
    ] as const) {
      await addSet(name, minutes);
    }
    await cache.makeRoom(10 * KB);
    expect(await names()).to.deep.equal(["new", "old", "older", "unmeasured"]);
    await cache.makeRoom(240 * KB);
    expect(await names()).to.deep.equal(["new", "older"]);
  });

  it("keeps sets in use; if they leave no room, an installation is unavailable for now", async () => {
    const [one, two] = [await addSet("one", 90), await addSet("two", 60)];
    await cache.using(one, async () => {
      await cache.using(two, async () => {
        const error = await rejection(cache.makeRoom(300 * KB));
        expect(error).to.include({ code: "unavailable" });
        expect(error.retryAfterMs).to.be.above(0);
      });
      await cache.makeRoom(300 * KB);
      expect(await names()).to.deep.equal(["one"]);
    });
  });

  it("counts npm's own cache, which is removed when it is too large", async () => {
    await mkdir(cache.npmFolder);
    await writeFile(join(cache.npmFolder, "small"), "x".repeat(100 * KB));
    await addSet("one", 1);
    await cache.makeRoom(200 * KB);
    expect(await readdir(cache.npmFolder)).to.deep.equal(["small"]);
    await writeFile(join(cache.npmFolder, "large"), "x".repeat(100 * KB));
    await cache.makeRoom(200 * KB);
    expect((await readdir(folder)).sort()).to.deep.equal(["packages"]);
    expect(await names()).to.deep.equal(["one"]);
  });

  it("loses sets that were not used for a week, and what killed processes left behind", async () => {
    await addSet("recent", 6 * 24 * 60);
    await addSet("unused", 8 * 24 * 60);
    await addSet(".building-abc", 2 * 24 * 60);
    await addSet(".building-def", 1);
    await cache.makeRoom(0);
    expect(await names()).to.deep.equal([".building-def", "recent"]);
  });
});

describe("equal packages of several sets", () => {
  let folder: string;
  let cache: PackageCache;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "headwater-packages-"));
    cache = new PackageCache(folder, 450 * KB);
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** Adds a set with packages by their place: the hash that npm wrote, and the files. */
  async function addSet(
    name: string,
    packages: Record<string, { integrity?: string; inBundle?: true; files: Record<string, string> }>,
  ): Promise<string> {
    const building = cache.newBuilding();
    for (const [root, { files }] of Object.entries(packages)) {
      for (const [file, text] of Object.entries({ "package.json": "{}", ...files })) {
        await mkdir(dirname(join(building, root, file)), { recursive: true });
        await writeFile(join(building, root, file), text);
      }
    }
    const locked = Object.entries(packages).map(([root, { files: _, ...entry }]) => [root, entry]);
    const lock = JSON.stringify({ packages: Object.fromEntries(locked) });
    await writeFile(join(building, "node_modules", ".package-lock.json"), lock);
    const path = join(cache.folder, name);
    await cache.publish(building, path);
    return path;
  }
  const inode = async (...path: string[]) => (await stat(join(...path))).ino;
  const large = { integrity: "sha512-large", files: { "lib/a.js": "x".repeat(200 * KB) } };

  it("have their files in common, wherever they are, until the last of them is removed", async () => {
    const one = await addSet("one", { "node_modules/large": large });
    const two = await addSet("two", { "node_modules/other/node_modules/large": large });
    const inOne = join(one, "node_modules/large/lib/a.js");
    const inTwo = join(two, "node_modules/other/node_modules/large/lib/a.js");
    expect(await inode(inTwo)).to.equal(await inode(inOne));
    await rm(one, { recursive: true });
    expect(await readFile(inTwo, "utf8")).to.equal("x".repeat(200 * KB));
  });

  it("count once towards what all sets may take", async () => {
    await addSet("one", { "node_modules/large": large });
    await addSet("two", { "node_modules/large": large });
    await addSet("three", { "node_modules/large": large });
    await cache.makeRoom(200 * KB);
    expect((await readdir(cache.folder)).sort()).to.deep.equal(["one", "three", "two"]);
    await cache.makeRoom(300 * KB);
    expect(await readdir(cache.folder)).to.deep.equal([]);
  });

  it("have nothing in common but what is equal, whatever their hashes say", async () => {
    const of = (text: string) => ({ integrity: "sha512-same", files: { "a.js": text, "b.js": "same" } });
    const one = await addSet("one", { "node_modules/x": of("good") });
    const two = await addSet("two", { "node_modules/x": of("evil") });
    const three = await addSet("three", { "node_modules/x": of("good") });
    const texts = [one, two, three].map(set => readFile(join(set, "node_modules/x/a.js"), "utf8"));
    expect(await Promise.all(texts)).to.deep.equal(["good", "evil", "good"]);
    const inodes = [one, two].map(set => inode(set, "node_modules/x/package.json"));
    expect(new Set(await Promise.all(inodes)).size).to.equal(2);
  });

  it("are found for sets that npm installs @long", async () => {
    const registry = await startNpmRegistry([
      { manifest: { name: "common", version: "1.0.0" }, files: { "index.js": "module.exports = 'common';" } },
      {
        manifest: { name: "user", version: "1.0.0", dependencies: { common: "^1.0.0" } },
        files: { "index.js": "module.exports = require('common');" },
      },
    ]);
    try {
      const { cacheDir, environment } = registry;
      for (const name of ["common", "user"]) {
        const code = `import x from "${name}"; export default { name: "x", version: "1", x, run() {} };`;
        await bundleComponent(fromCode(code), { cacheDir, npmEnvironment: environment });
      }
      const sets = await readdir(join(cacheDir, "packages"));
      const inodes = sets.map(set => inode(cacheDir, "packages", set, "node_modules/common/index.js"));
      expect(sets).to.have.length(2);
      expect(new Set(await Promise.all(inodes)).size).to.equal(1);
    } finally {
      await registry.close();
    }
  });
});
