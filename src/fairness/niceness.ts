import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { constants, getPriority, setPriority } from "node:os";
import { fieldsOfStat } from "../lib/proc-stat.ts";
import { NICENESS } from "./constants.ts";

/** This process gives way itself, and those that it starts are as nice as it is without being told. */
let isGivingWay = false;

/** Makes this process nicer, those of its threads that exist too: all that it does is an account's work. */
export function giveWayItself(): void {
  makeNicer(process.pid, threadsOf(process.pid));
  isGivingWay = true;
}

/**
 * Makes a process that was just started nicer than this one, so that the platform and its stores get the processor first,
 * however much the components of an account compute. Where the system permits no change, all are equal.
 */
export function giveWay(pid: number): void {
  if (!isGivingWay) makeNicer(pid, [pid]);
}

/**
 * Makes a process that gives way nicer than all others that do, while it computes for long, or as nice as they are again: what needs
 * the processor for some milliseconds would wait for a turn of each one that computes without end.
 */
export function giveWayToOthers(pid: number, isLong: boolean): void {
  setPriorities(pid, threadsOf(pid), isLong ? constants.priority.PRIORITY_LOW : nicer());
}

function makeNicer(pid: number, threads: number[]): void {
  setPriorities(pid, threads, nicer());
}

const nicer = () => Math.min(getPriority() + (isGivingWay ? 0 : NICENESS), constants.priority.PRIORITY_LOW);

function setPriorities(pid: number, threads: number[], priority: number): void {
  for (const id of threads) {
    try {
      setPriority(id, priority);
    } catch {
      // All are equal. One that was made nicer stays so where only root may undo that.
    }
  }
  setPriorityOfSession(pid, priority);
}

/**
 * Sets how nice a session of one process of ours is. Linux may share the processor between sessions first, and then how nice a
 * process is counts only in its own (sched(7), autogroup): a sandbox, which is a session, would get as much as the whole platform.
 */
function setPriorityOfSession(pid: number, priority: number): void {
  try {
    const [, , , session] = fieldsOfStat(readFileSync(`/proc/${pid}/stat`, "utf8"));
    if (Number(session) === pid) writeFileSync(`/proc/${pid}/autogroup`, String(priority));
  } catch {
    // The system has no such groups, or permits no change.
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
      if (!isGivingWay) makeNicer(Number(pid), threadsOf(Number(pid)));
    }
  } catch {
    // It has ended, or the system has no such files.
  }
}
