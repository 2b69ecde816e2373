import { readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";

/** Over how long it is measured how busy the thread is. Milliseconds. */
const SAMPLE_MS = 100;
/** The share of its time above which the thread is busy: beyond it, all that waits for it waits much longer. */
const BUSY_SHARE = 0.7;
/** The share of its time that the thread waits for a processor, above which the machine is busy with other processes. */
const WAITING_SHARE = 0.1;

/** Whether a thread had little time to spare a moment ago, or the machine had. */
export interface Thread {
  readonly isBusy: boolean;
}

class BusyThread implements Thread {
  #isBusy = false;
  #sampledAt = performance.now();
  #sample = performance.eventLoopUtilization();
  #waitedMs = waitedForProcessorMs();

  get isBusy(): boolean {
    const now = performance.now();
    const passedMs = now - this.#sampledAt;
    if (passedMs >= SAMPLE_MS) {
      const sample = performance.eventLoopUtilization();
      const waitedMs = waitedForProcessorMs();
      const { utilization } = performance.eventLoopUtilization(sample, this.#sample);
      this.#isBusy = utilization > BUSY_SHARE || (waitedMs - this.#waitedMs) / passedMs > WAITING_SHARE;
      this.#sample = sample;
      this.#waitedMs = waitedMs;
      this.#sampledAt = now;
    }
    return this.#isBusy;
  }
}

/** The thread of this process: all that share it measure it once. */
export const thisThread = new BusyThread();

/** For how long the main thread was ready to run and did not; 0 where the system does not say. */
function waitedForProcessorMs(): number {
  try {
    // Nanoseconds of running, nanoseconds of waiting, turns.
    return Number(readFileSync("/proc/self/schedstat", "utf8").split(" ")[1]) / 1e6;
  } catch {
    return 0;
  }
}
