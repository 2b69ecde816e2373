import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { openOwnedFolder, removeAbandonedFolders } from "../../src/lib/folders.ts";
import { startPrintingProgram } from "../support/printing-program.ts";

const OPENS = `
  const { openOwnedFolder } = await import(process.argv[1]);
  process.stdout.write((await openOwnedFolder(process.argv[2])).path);
  setInterval(() => {}, 1000);`;

/** Has another process open a folder, and kills it; returns the folder's path. */
async function folderOfKilled(prefix: string): Promise<string> {
  const file = new URL("../../src/lib/folders.ts", import.meta.url).href;
  const args = ["--input-type=module", "--eval", OPENS, file, prefix];
  const { printed, kill } = await startPrintingProgram(args, "the folder is open");
  await kill();
  return printed;
}

describe("a folder that a process has while it runs", () => {
  let prefix = "";
  beforeEach(() => {
    prefix = `headwater-owned-${process.pid}-${Math.random().toString(36).slice(2)}-`;
  });

  it("is gone once it is closed, whatever permissions its files have", async () => {
    const folder = await openOwnedFolder(prefix);
    await mkdir(join(folder.path, "a"));
    await writeFile(join(folder.path, "a", "file"), "text");
    await chmod(join(folder.path, "a"), 0o000);
    await folder.close();
    expect(existsSync(folder.path)).to.equal(false);
  });

  it("is removed by the next process if its own was killed, and not while its own runs", async () => {
    const killed = await folderOfKilled(prefix);
    const own = await openOwnedFolder(prefix);
    const removed: string[] = [];
    await removeAbandonedFolders(prefix, async path => void removed.push(path));
    expect(removed).to.deep.equal([killed]);
    expect([killed, own.path].map(path => existsSync(path))).to.deep.equal([false, true]);
    await own.close();
  });

  it("is left for a minute before its process has begun to listen", async () => {
    const path = await mkdtemp(join(tmpdir(), prefix));
    await removeAbandonedFolders(prefix);
    expect(existsSync(path)).to.equal(true);
    const longAgo = new Date(Date.now() - 61_000);
    await utimes(path, longAgo, longAgo);
    await removeAbandonedFolders(prefix);
    expect(existsSync(path)).to.equal(false);
  });
});
