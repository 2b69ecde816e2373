import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { BundleFiles } from "../../src/sandbox/bundle.ts";

describe("files of bundles", () => {
  let folder: string;
  let written: string[];
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "bundle-files-"));
    written = [];
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** A bundle of ten bytes that is somewhere else. */
  const bundle = (hash: string) => ({
    hash,
    writeTo: async (path: string) => {
      written.push(hash);
      await writeFile(path, "0123456789");
    },
  });

  it("are written once, and stay for the next process while there is room", async () => {
    const files = new BundleFiles(folder, 20);
    for (const hash of ["a", "b", "a", "c"]) await files.release(await files.acquire(bundle(hash)));
    expect(written).to.deep.equal(["a", "b", "c"]);
    expect(await readdir(folder), "b was unused for the longest time").to.have.members(["a.mjs", "c.mjs"]);
  });

  it("are never removed while they are used", async () => {
    const files = new BundleFiles(folder, 0);
    const paths = await Promise.all([1, 2].map(() => files.acquire(bundle("a"))));
    await files.release(paths[0] ?? "");
    expect(await readdir(folder)).to.deep.equal(["a.mjs"]);
    await files.release(paths[1] ?? "");
    expect(await readdir(folder)).to.deep.equal([]);
  });

  it("of a bundle that can't be read leave nothing behind, and are tried again", async () => {
    const files = new BundleFiles(folder);
    const broken = { hash: "a", writeTo: () => Promise.reject(new Error("away")) };
    const error = await files.acquire(broken).catch((error: Error) => error.message);
    expect([error, await readdir(folder)]).to.deep.equal(["away", []]);
    await files.acquire(bundle("a"));
    expect(written).to.deep.equal(["a"]);
  });
});
