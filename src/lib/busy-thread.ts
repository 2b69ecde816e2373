import { readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";

/** Over how long it is measured how busy the thread is. Milliseconds. */
const SAMPLE_MS = 100;
/** The share of its time above which the thread is busy: beyond it, all that waits for it waits much longer. */
const BUSY_SHARE = 0.7;
/** The share of its time that the thread waits for a processor, above which the machine is busy with other processes. */
const WAITING_SHARE = 0.1;
/** What a busy sample multiplies the pressure by, and one that is not. */
const RISE = 1.25;
const FALL = 0.93;
const MAX_PRESSURE = 16;

/** How scarce a thread's time is, or the machine's. */
export interface Thread {
  /**
   * 1 while there is time to spare. Above that, up to 16, the longer the thread or the machine stays busy: what can wait
   * should leave that many times as much time to what can't.
   */
  readonly pressure: number;
}

class BusyThread implements Thread {
  #pressure = 1;
  #sampledAt = performance.now();
  #sample = performance.eventLoopUtilization();
  #waitedMs = waitedForProcessorMs();

  get pressure(): number {
    const now = performance.now();
    const passedMs = now - this.#sampledAt;
    if (passedMs >= SAMPLE_MS) {
      const sample = performance.eventLoopUtilization();
      const waitedMs = waitedForProcessorMs();
      const { utilization } = performance.eventLoopUtilization(sample, this.#sample);
      const isBusy = utilization > BUSY_SHARE || (waitedMs - this.#waitedMs) / passedMs > WAITING_SHARE;
      this.#pressure = isBusy
        ? Math.min(MAX_PRESSURE, this.#pressure * RISE)
        : Math.max(1, this.#pressure * FALL ** (passedMs / SAMPLE_MS));
      this.#sample = sample;
      this.#waitedMs = waitedMs;
      this.#sampledAt = now;
    }
    return this.#pressure;
  }
}

/** The thread of this process: all that share it measure it once. */
export const thisThread: Thread = new BusyThread();

/** For how long the main thread was ready to run and did not; 0 where the system does not say. */
function waitedForProcessorMs(): number {
  try {
    // Nanoseconds of running, nanoseconds of waiting, turns.
    return Number(readFileSync("/proc/self/schedstat", "utf8").split(" ")[1]) / 1e6;
  } catch {
    return 0;
  }
}
