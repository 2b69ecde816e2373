import { readFileSync } from "node:fs";
import { totalmem } from "node:os";
import { LIMITS } from "../limits/catalogue.ts";

/** What sandboxes may take beyond those that are in use. */
export interface WarmRoom {
  /** Bytes of all processes together, without what they share. */
  bytes: number;
  /** Most processes, those in use included. */
  processes: number;
}

const MB = 1024 * 1024;
/** The rest is for the stores, the platform, what sandboxes in use need, and the cache of files. */
const SHARE_OF_MEMORY = LIMITS.warmMemoryPercent.value / 100;
/** A block of user ids has a thousand (docs/decisions/0010-sandbox-privileges.md). */
const MOST_PROCESSES = 900;
/** Pipes, files of `/proc` and the gateway's socket, with some connections of its component. */
const DESCRIPTORS = 12;
const OTHER_DESCRIPTORS = 1024;
/** Deno has 7 threads when it has started; the rest of the limit is for other processes. */
const THREADS = 16;

/**
 * Returns how much of this machine, or of this container, one worker's warm sandboxes may take. `memoryMb` replaces the
 * quarter of the memory that is the default.
 */
export function warmRoom(memoryMb: number | undefined): WarmRoom {
  const bytes = memoryMb === undefined ? memoryOfMachine() * SHARE_OF_MEMORY : memoryMb * MB;
  const byDescriptors = (descriptorLimit() - OTHER_DESCRIPTORS) / DESCRIPTORS;
  const byThreads = limitOf("/sys/fs/cgroup/pids.max") / THREADS;
  const processes = Math.max(0, Math.floor(Math.min(MOST_PROCESSES, byDescriptors, byThreads)));
  return { bytes, processes };
}

function memoryOfMachine(): number {
  return Math.min(totalmem(), limitOf("/sys/fs/cgroup/memory.max"));
}

/** Node raises its own limit to the hard one when it starts. */
function descriptorLimit(): number {
  const line = /^Max open files\s+(\S+)/m.exec(readOrEmpty("/proc/self/limits"))?.[1];
  return line === undefined || line === "unlimited" ? Number.POSITIVE_INFINITY : Number(line);
}

function limitOf(path: string): number {
  const text = readOrEmpty(path).trim();
  return /^\d+$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY;
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
