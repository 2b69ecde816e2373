import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isOurs, readPid, sendSignal } from "./processes.mjs";
import { closeStores, openStores } from "./stores.mjs";

const PREFIX = "headwater-own-";
const STOP_MS = 5000;

/**
 * Gives `work` the addresses of stores that are there for this run only, in a temporary folder and on any free
 * ports, and removes both afterwards. Stores named by `given` (`{mongodbUrl?, redisUrl?}`) are used instead.
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

/** What a killed run left behind: its folder, and the servers that work on it. */
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
      // Nobody wants its data any more, so it need not end well.
      if (isOurs(pid, [`${join(folder, name)} `])) sendSignal(pid, "SIGKILL");
    }
    rmSync(folder, { recursive: true, force: true });
  }
}
