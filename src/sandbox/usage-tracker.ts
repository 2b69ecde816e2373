import type { ProcessUsage, UsageSample } from "./process-usage.ts";

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
