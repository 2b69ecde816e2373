import {
  accessSync,
  constants,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isOurs, readPid, sendSignal } from "./processes.mjs";
import { closeStores, openStores } from "./stores.mjs";

const PREFIX = "headwater-own-";
const STOP_MS = 5000;
/** Linux' folder in memory. */
const MEMORY = "/dev/shm";
/** Free bytes below which it is not used: containers often have 64 MB there. */
const MIN_MEMORY = 2 ** 31;

/**
 * Calls `work` with the addresses of stores that exist for this run only, in a temporary folder and on free ports, and
 * with that folder; stops the servers and removes the folder afterwards. Stores in `given` (`{mongodbUrl?, redisUrl?}`)
 * are used instead. `isInMemory`: the folder is in memory where there is room, so that no write waits for a disk.
 */
export async function withOwnStores({ root, given, isInMemory = false, say, signal }, work) {
  for (const parent of [tmpdir(), MEMORY]) removeLeftovers(parent);
  const parent = isInMemory && hasRoom(MEMORY) ? MEMORY : tmpdir();
  const folder = mkdtempSync(join(parent, `${PREFIX}${process.pid}-`));
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

function hasRoom(folder) {
  try {
    accessSync(folder, constants.W_OK);
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= MIN_MEMORY;
  } catch {
    return false;
  }
}

/** Removes the folders of killed runs in `parent`, and ends the servers that use them. */
function removeLeftovers(parent) {
  if (!existsSync(parent)) return;
  const folders = readdirSync(parent)
    .filter(name => name.startsWith(PREFIX))
    .map(name => join(parent, name))
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
