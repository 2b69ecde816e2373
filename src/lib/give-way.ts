import { readdirSync, readFileSync } from "node:fs";
import { constants, getPriority, setPriority } from "node:os";

/** How much nicer a process that does an account's work is than the platform's own. */
const NICENESS = 10;

/** This process gives way itself, and those that it starts are as nice as it is without being told. */
let isGivingWay = false;

/** Makes this process nicer, those of its threads that exist too: all that it does is an account's work. */
export function giveWayItself(): void {
  makeNicer(threadsOf(process.pid));
  isGivingWay = true;
}

/**
 * Makes a process that was just started nicer than this one, so that the platform and its stores get the processor first,
 * however much the components of an account compute. Where the system permits no change, all are equal.
 */
export function giveWay(pid: number): void {
  if (!isGivingWay) makeNicer([pid]);
}

function makeNicer(ids: number[]): void {
  const priority = Math.min(getPriority() + NICENESS, constants.priority.PRIORITY_LOW);
  for (const id of ids) {
    try {
      setPriority(id, priority);
    } catch {
      // All are equal.
    }
  }
}

/** Linux counts each thread for itself; those that come later are like the one that starts them. */
function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [pid];
  }
}

/** Does the same for the running children of this process that execute a program of this name; on Linux only. */
export function childrenGiveWay(program: string): void {
  try {
    const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8");
    for (const pid of children.split(" ").filter(Boolean)) {
      if (readFileSync(`/proc/${pid}/comm`, "utf8").trim() !== program) continue;
      if (!isGivingWay) makeNicer(threadsOf(Number(pid)));
    }
  } catch {
    // It has ended, or the system has no such files.
  }
}
