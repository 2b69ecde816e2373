import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isOurs, readPid, sendSignal } from "./processes.mjs";
import { closeStores, openStores } from "./stores.mjs";

const PREFIX = "headwater-own-";
const STOP_MS = 5000;

/**
 * Calls `work` with the addresses of stores that exist for this run only, in a temporary folder and on free ports, and
 * with that folder; stops the servers and removes the folder afterwards. Stores in `given` (`{mongodbUrl?, redisUrl?}`)
 * are used instead.
 */
export async function withOwnStores({ root, given, say, signal }, work) {
  await removeLeftovers();
  const folder = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
  const handles = [];
  try {
    const hold = handle => handles.push(handle);
    const firstPorts = { mongo: 0, redis: 0 };
    return await work(
      await openStores({ ...given, root, folder, firstPorts, database: "", hold, say, signal }),
      folder,
    );
  } finally {
    await closeStores(handles, STOP_MS);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Removes the folders of killed runs, and ends the servers that use them. */
async function removeLeftovers() {
  const folders = readdirSync(tmpdir())
    .filter(name => name.startsWith(PREFIX))
    .map(name => join(tmpdir(), name))
    .filter(folder => statSync(folder, { throwIfNoEntry: false })?.uid === process.getuid?.());
  for (const folder of folders) {
    const owner = Number(/-(\d+)-[^-]*$/.exec(folder)?.[1]);
    if (isOurs(owner, ["script/lib/"])) continue;
    for (const name of ["mongo", "redis"]) {
      const pid = readPid(join(folder, `${name}.pid`));
      // Its data is removed anyway.
      if (isOurs(pid, [`${join(folder, name)} `])) sendSignal(pid, "SIGKILL");
    }
    rmSync(folder, { recursive: true, force: true });
  }
}
