import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type OwnedFolder, openOwnedFolder, removeAbandonedFolders } from "../lib/folders.ts";

const PREFIX = "headwater-sandbox-";

/**
 * Creates the folder of one sandbox host: the prelude, the bundles, and a workspace for each child. Before that, it removes the
 * folders of hosts that were killed, and ends their children, one of which may still be in an endless loop.
 */
export async function openHostFolder(): Promise<OwnedFolder> {
  await removeAbandonedFolders(PREFIX, killOrphans);
  const folder = await openOwnedFolder(PREFIX);
  await mkdir(join(folder.path, "bundles"), { mode: 0o700 });
  return folder;
}

/** Ends the processes that were started with this folder in their arguments. */
async function killOrphans(path: string): Promise<void> {
  const processes = await readdir("/proc").catch(() => []);
  for (const id of processes.filter(name => /^\d+$/.test(name))) {
    const command = await readFile(`/proc/${id}/cmdline`, "utf8").catch(() => "");
    if (!command.includes(`${path}/`)) continue;
    try {
      process.kill(Number(id), "SIGKILL");
    } catch {
      // It has ended in between.
    }
  }
}
