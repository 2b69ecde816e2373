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

/** The resources that one call used. */
export interface CallUsage {
  durationMs: number;
  cpuMs: number;
  memoryBytes: number;
}

/** Only from this duration on is it worth reading the processor time of the other threads. */
const LONG_CALL_MS = 100;
/**
 * Reading a sample costs as much as a tenth of a quick call. A call that ends sooner than this after the last sample is
 * not measured: its processor time is taken to be its whole duration.
 */
const SAMPLE_AFTER_MS = 2;

/**
 * Measures consecutive calls of one process. The child reports how they share the elapsed time, but the total is
 * measured here: time that the child leaves out counts for the last call.
 */
export class UsageTracker {
  readonly #usage: ProcessUsage;
  #endedAt = performance.now();
  #sampledAt = this.#endedAt;
  #last: UsageSample;
  /** Processor time attributed to calls since the last sample. */
  #attributedMs = 0;
  #memoryBytes: number;

  constructor(usage: ProcessUsage) {
    this.#usage = usage;
    this.#last = usage.sample(false);
    this.#memoryBytes = this.#last.memoryBytes;
  }

  /** Processor time of the process when the call under way started, as of the last sample. */
  get cpuMsBefore(): number {
    return this.#last.cpuMs;
  }

  /** `isExact` includes the threads besides the component's own; see `ProcessUsage`. */
  sample(isExact: boolean): UsageSample {
    const sample = this.#usage.sample(isExact);
    this.#memoryBytes = Math.max(this.#memoryBytes, sample.memoryBytes);
    return sample;
  }

  /** Ends a call that took `reportedMs` according to the child. The last call is charged all the time that is left. */
  endCall(reportedMs: number, isLast: boolean): CallUsage {
    const now = performance.now();
    const elapsedMs = now - this.#endedAt;
    const durationMs = isLast ? elapsedMs : Math.min(reportedMs, elapsedMs);
    this.#endedAt += durationMs;
    let cpuMs = durationMs;
    if (isLast || now - this.#sampledAt >= SAMPLE_AFTER_MS) {
      const sample = this.sample(durationMs >= LONG_CALL_MS);
      cpuMs = Math.max(0, sample.cpuMs - this.#last.cpuMs - this.#attributedMs);
      this.#last = sample;
      this.#sampledAt = now;
      this.#attributedMs = 0;
    } else this.#attributedMs += cpuMs;
    const used = { durationMs, cpuMs, memoryBytes: this.#memoryBytes };
    this.#memoryBytes = this.#last.memoryBytes;
    return used;
  }
}
