import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { PackageCache } from "../../src/components/package-cache.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
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
