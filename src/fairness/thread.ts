import { readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { BREAK_AFTER_MS, PRESSURE } from "./constants.ts";

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
    if (passedMs >= PRESSURE.sampleMs) {
      const sample = performance.eventLoopUtilization();
      const waitedMs = waitedForProcessorMs();
      const { utilization } = performance.eventLoopUtilization(sample, this.#sample);
      const isBusy =
        utilization > PRESSURE.busyShare || (waitedMs - this.#waitedMs) / passedMs > PRESSURE.waitingShare;
      this.#pressure = isBusy
        ? Math.min(PRESSURE.most, this.#pressure * PRESSURE.rise)
        : Math.max(1, this.#pressure * PRESSURE.fall ** (passedMs / PRESSURE.sampleMs));
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

/** Divides long work of the thread: what others wait for comes in between. */
export class Breaks {
  #since = performance.now();

  /** To be awaited between pieces of the work; resolves after a turn of the event loop if one is due. */
  next(): Promise<void> | void {
    if (performance.now() - this.#since < BREAK_AFTER_MS) return undefined;
    return new Promise(resolve =>
      setImmediate(() => {
        this.#since = performance.now();
        resolve();
      }),
    );
  }
}
