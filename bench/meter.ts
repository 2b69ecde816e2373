import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fieldsOfStat } from "../src/lib/proc-stat.ts";

/** What a process belongs to: what is measured, its two stores, or the two ends of the measurement. */
export type Group = "ours" | "redis" | "mongodb" | "sender" | "receiver";

export interface Watched {
  name: string;
  group: Group;
  pid: number;
  /** Watches the process's live descendants instead of itself. */
  children?: true;
}

export interface Usage {
  name: string;
  group: Group;
  cpuSeconds: number;
  /** Peak of the process; for children the largest peak of one of them. */
  rssPeakMb: number;
}

/** Linux reports CPU time in hundredths of a second, whatever the kernel's clock rate. */
const TICKS_PER_SECOND = 100;

export interface Reading {
  processes: Usage[];
  /** Share of the machine's CPU time that went to other processes, or to another machine on the same hardware. */
  elsewhere: number;
}

/** Starts to watch; the returned function returns the CPU time and the memory peak since then. */
export function startMeter(watched: Watched[]): () => Reading {
  const before = watched.map(cpuSecondsOf);
  const machineBefore = machineTicks();
  for (const pid of watched.flatMap(membersOf)) resetPeak(pid);
  return () => {
    const processes = watched.map((one, index) => ({
      name: one.name,
      group: one.group,
      cpuSeconds: cpuSecondsOf(one) - (before[index] ?? 0),
      rssPeakMb: Math.max(0, ...membersOf(one).map(pid => rssMb(pid, "VmHWM"))),
    }));
    const now = machineTicks();
    const used = processes.reduce((sum, one) => sum + one.cpuSeconds * TICKS_PER_SECOND, 0);
    const all = Math.max(1, now.all - machineBefore.all);
    return { processes, elsewhere: Math.max(0, (now.busy - machineBefore.busy - used) / all) };
  };
}

/**
 * Returns the megabytes that a process holds now: all its pages (`rss`), and its `share`, for which each page is
 * divided by the number of processes that have it, because the program itself is loaded once for all.
 */
export function memoryMb(pid: number): { rss: number; share: number } {
  const share = /^Pss:\s+(\d+) kB/m.exec(readProc(`${pid}/smaps_rollup`))?.[1];
  return { rss: rssMb(pid, "VmRSS"), share: Number(share ?? 0) / 1024 };
}

function membersOf({ pid, children }: Watched): number[] {
  return children ? descendantsOf(pid) : [pid];
}

function cpuSecondsOf(watched: Watched): number {
  return membersOf(watched).reduce((sum, pid) => sum + ticksOf(pid), 0) / TICKS_PER_SECOND;
}

/** CPU time of all threads, and of children that have ended (Redis rewrites its AOF in a child). */
function ticksOf(pid: number): number {
  const [, , ...fields] = statOf(pid);
  // proc(5): utime, stime, cutime, cstime are the fields 14 to 17, counted from 1.
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
}

/** CPU time of all processors since the machine started. */
function machineTicks(): { all: number; busy: number } {
  // proc(5): user, nice, system, idle, iowait, irq, softirq, steal; guest time is in user already.
  const [, ...fields] = readProc("stat").split("\n", 1)[0]?.trim().split(/\s+/) ?? [];
  const ticks = fields.slice(0, 8).map(Number);
  const all = ticks.reduce((sum, one) => sum + one, 0);
  return { all, busy: all - (ticks[3] ?? 0) - (ticks[4] ?? 0) };
}

/** The fields of /proc/<pid>/stat; empty if the process has ended. */
function statOf(pid: number): string[] {
  return [String(pid), "", ...fieldsOfStat(readProc(`${pid}/stat`))];
}

/** Returns the processes that a process started, and those that they started. */
export function descendantsOf(pid: number): number[] {
  const parents = new Map(
    readdirSync("/proc")
      .filter(name => /^\d+$/.test(name))
      .map(name => [Number(name), Number(statOf(Number(name))[3])]),
  );
  const isBelow = (one: number): boolean => {
    const parent = parents.get(one);
    return parent !== undefined && (parent === pid || isBelow(parent));
  };
  return [...parents.keys()].filter(isBelow);
}

/** Resets VmHWM, so that it counts from now on. */
function resetPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, "5");
  } catch {
    // Not allowed everywhere; then the peak counts from the start of the process.
  }
}

function rssMb(pid: number, field: "VmHWM" | "VmRSS"): number {
  const kilobytes = new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(readProc(`${pid}/status`))?.[1];
  return Number(kilobytes ?? 0) / 1024;
}

function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, "utf8");
  } catch {
    return "";
  }
}
