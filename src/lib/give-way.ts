import { constants, getPriority, setPriority } from "node:os";

/** How much nicer a process that does an account's work is than the platform's own. */
const NICENESS = 10;

/**
 * Makes a process that was just started nicer than this one, so that the platform and its stores get the processor first,
 * however much the components of an account compute. Where the system permits no change, all are equal.
 */
export function giveWay(pid: number): void {
  try {
    setPriority(pid, Math.min(getPriority() + NICENESS, constants.priority.PRIORITY_LOW));
  } catch {
    // All are equal.
  }
}
