import { closeSync, openSync, readSync } from "node:fs";
import { fieldsOfStat } from "../lib/proc-stat.ts";

export interface UsageSample {
  cpuMs: number;
  /** All its resident memory, with what it shares with other processes. */
  memoryBytes: number;
  /** The part of it that is its own. */
  ownBytes: number;
}

const PAGE_BYTES = 4096;
/** The unit of `/proc/<pid>/stat`: 100 ticks a second on every Linux. */
const TICK_MS = 10;

/**
 * What a process uses, as far as the system reports it; all values are 0 on systems other than Linux. It keeps three
 * files of `/proc` open, because samples are taken before and after calls: reading the main thread, which runs the
 * component, takes 3 µs and is exact to the nanosecond; reading the memory takes as much.
 */
export class ProcessUsage {
  readonly #mainFile: number | undefined;
  readonly #allFile: number | undefined;
  readonly #memoryFile: number | undefined;
  #mainMs = 0;
  #othersMs = 0;
  #memoryBytes = 0;
  #ownBytes = 0;
  #isClosed = false;

  constructor(pid: number) {
    this.#mainFile = open(pid, "schedstat");
    this.#allFile = open(pid, "stat");
    this.#memoryFile = open(pid, "statm");
  }

  /**
   * Returns the processor time since the process started, and its resident memory now. If the process has ended, it
   * returns the last values. `isExact` adds the other threads (garbage collection, compilation), which takes another
   * 10 µs and is exact only to 10 ms.
   */
  sample(isExact: boolean): UsageSample {
    if (this.#isClosed) return this.last();
    this.#mainMs = Number(read(this.#mainFile)?.split(" ")[0] ?? this.#mainMs * 1e6) / 1e6;
    const [, resident, shared] = read(this.#memoryFile)?.split(" ").map(Number) ?? [];
    if (resident !== undefined && shared !== undefined) {
      this.#memoryBytes = resident * PAGE_BYTES;
      this.#ownBytes = (resident - shared) * PAGE_BYTES;
    }
    if (isExact) {
      const allMs = parseCpuMs(read(this.#allFile));
      if (allMs !== undefined) this.#othersMs = Math.max(this.#othersMs, allMs - this.#mainMs);
    }
    return this.last();
  }

  /** Returns for how long the main thread has computed, and has waited for a processor, since the process started. */
  mainThreadMs(): { cpu: number; waited: number } {
    const [cpu = 0, waited = 0] = (!this.#isClosed && read(this.#mainFile)?.split(" ").map(Number)) || [];
    return { cpu: cpu / 1e6, waited: waited / 1e6 };
  }

  /** Returns the last sample. */
  last(): UsageSample {
    return {
      cpuMs: this.#mainMs + this.#othersMs,
      memoryBytes: this.#memoryBytes,
      ownBytes: this.#ownBytes,
    };
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const file of [this.#mainFile, this.#allFile, this.#memoryFile]) {
      if (file !== undefined) closeSync(file);
    }
  }
}

function open(pid: number, name: string): number | undefined {
  try {
    return openSync(`/proc/${pid}/${name}`, "r");
  } catch {
    return undefined;
  }
}

const buffer = Buffer.allocUnsafe(1024);

function read(file: number | undefined): string | undefined {
  if (file === undefined) return undefined;
  try {
    return buffer.toString("latin1", 0, readSync(file, buffer, 0, buffer.length, 0)) || undefined;
  } catch {
    // The process has ended.
    return undefined;
  }
}

function parseCpuMs(stat: string | undefined): number | undefined {
  if (stat === undefined) return undefined;
  // The times are fields 14 and 15 of proc(5).
  const fields = fieldsOfStat(stat);
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
