import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { Complaint } from "./complaint.mjs";
import { isOurs, stopProcess } from "./processes.mjs";

const ORPHAN_GRACE_MS = 5000;

/**
 * One start per folder: two would share one set of data. The lock file names the script's process and the
 * processes it started, so that the next start after a `kill -9` can end what is left of them.
 *
 * `marks` tell the script's own command line, `childMarks` those of its children. Gives `{recordChild(name, pid),
 * release()}`. Throws Complaint when another start is alive.
 */
export async function acquireLock(file, { marks, childMarks }) {
  mkdirSync(dirname(file), { recursive: true });
  const held = readLock(file);
  if (held && held.pid !== process.pid && isOurs(held.pid, marks)) {
    throw new Complaint(
      `Headwater runs already from this folder (process ${held.pid}): stop that one first (Ctrl-C)`,
    );
  }
  if (held) {
    const orphans = Object.values(held.children ?? {});
    await Promise.all(orphans.map(pid => stopProcess(pid, childMarks, ORPHAN_GRACE_MS)));
    rmSync(file, { force: true });
  }
  const state = { pid: process.pid, children: {} };
  try {
    // "wx" fails when another start was quicker in these last milliseconds.
    writeFileSync(file, JSON.stringify(state), { flag: "wx" });
  } catch {
    throw new Complaint(
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
