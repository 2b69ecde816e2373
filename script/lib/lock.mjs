import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { isOurs, stopProcess } from "./processes.mjs";
import { UserError } from "./user-error.mjs";

const ORPHAN_GRACE_MS = 5000;

/**
 * Allows one start per folder, because two would share the same data. The lock file names the script's process and
 * the processes it started, so that the next start after a `kill -9` can end the ones that are left.
 *
 * `marks` are texts in the command line of this process, which another start may not have in its own; `childMarks` are texts in
 * those of its children. Returns
 * `{recordChild(name, pid), release()}`. Throws UserError if another start is running.
 */
export async function acquireLock(file, { marks, childMarks }) {
  mkdirSync(dirname(file), { recursive: true });
  const held = readLock(file);
  if (held && held.pid !== process.pid && isOurs(held.pid, held.marks ?? marks)) {
    throw new UserError(
      `Headwater already runs from this folder (process ${held.pid}): stop it first (Ctrl-C)`,
    );
  }
  if (held) {
    const orphans = Object.values(held.children ?? {});
    await Promise.all(orphans.map(pid => stopProcess(pid, held.childMarks, ORPHAN_GRACE_MS)));
    rmSync(file, { force: true });
  }
  const state = { pid: process.pid, marks, childMarks, children: {} };
  try {
    // "wx" fails if another start created the file in between.
    writeFileSync(file, JSON.stringify(state), { flag: "wx" });
  } catch {
    throw new UserError(
      "Headwater is being started from this folder by another process: try again in a moment",
    );
  }
  return {
    recordChild(name, pid) {
      state.children[name] = pid;
      writeFileSync(file, JSON.stringify(state));
    },
    release: () => rmSync(file, { force: true }),
  };
}

function readLock(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}
