import { giveWayToOthers } from "../fairness/niceness.ts";
import { exceedsLimit } from "../lib/folders.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { hostError } from "./protocol.ts";
import type { Sandbox } from "./sandbox.ts";

export interface WatchdogOptions {
  sandboxes: () => { sandbox: Sandbox; isBusy: boolean }[];
  /** Limit for the process: its heap, and the memory outside of the heap. */
  memoryMb: number;
  /** Processor time of one call. */
  cpuMs: number;
}

const EVERY_MS = 500;
/** A call that has used so much processor time gives way to those of others until it ends. */
const LONG_CPU_MS = 200;
/** Processor time that garbage collection and closing connections may use between calls. */
const IDLE_CPU_MS = 2000;
/**
 * Writing takes processor time, and less than this is not enough to write much. Reading the folders of hundreds of warm
 * processes twice a second would cost more than all that they do.
 */
const WRITE_CPU_MS = 10;
/** Limit for the private folder and deno's own, because all sandboxes share the disk. */
export const DISK_LIMIT = {
  maxBytes: LIMITS.sandboxDiskBytes.value,
  maxEntries: LIMITS.sandboxFiles.value,
};

/**
 * Ends a child that uses too much memory outside of its heap (V8's limit does not include buffers), too much processor
 * time in a call or between calls (no wall-clock limit would end a loop that outlives its call), or too much disk
 * space. Memory and processor time are read from `/proc`, so they are limited on Linux only. Returns the function that
 * stops it.
 */
export function startWatchdog({ sandboxes, memoryMb, cpuMs }: WatchdogOptions): () => void {
  const idleCpu = new WeakMap<Sandbox, number>();
  const cpuAtMeasuring = new WeakMap<Sandbox, number>();
  const givingWay = new WeakSet<Sandbox>();
  let isChecking = false;

  async function check(sandbox: Sandbox, isBusy: boolean): Promise<void> {
    const used = sandbox.usage();
    if (used.memoryBytes > memoryMb * 1024 * 1024) {
      sandbox.kill(hostError("Out of Memory", "The component exceeded its memory limit"));
    }
    if (used.callCpuMs !== undefined && used.callCpuMs > cpuMs) {
      sandbox.kill(hostError("Timeout", `The component used more than ${cpuMs} ms of processor time`));
    }
    const isLong = (used.callCpuMs ?? 0) > LONG_CPU_MS;
    if (isLong !== givingWay.has(sandbox)) {
      giveWayToOthers(sandbox.pid, isLong);
      if (isLong) givingWay.add(sandbox);
      else givingWay.delete(sandbox);
    }
    const before = idleCpu.get(sandbox);
    if (isBusy) idleCpu.delete(sandbox);
    else if (before === undefined) idleCpu.set(sandbox, used.cpuMs);
    else if (used.cpuMs - before > IDLE_CPU_MS) {
      sandbox.kill(hostError("Error", "The component kept computing after a run had ended"));
    }
    const measuredAt = cpuAtMeasuring.get(sandbox);
    if (measuredAt !== undefined && used.cpuMs - measuredAt < WRITE_CPU_MS) return;
    cpuAtMeasuring.set(sandbox, used.cpuMs);
    if (await exceedsLimit(sandbox.folders, DISK_LIMIT)) {
      const { maxBytes, maxEntries } = DISK_LIMIT;
      const limit = `${maxBytes / 1024 / 1024} MB and ${maxEntries} files`;
      sandbox.kill(hostError("Error", `The component exceeded its disk limit of ${limit}`));
    }
  }

  const timer = setInterval(() => {
    if (isChecking) return;
    isChecking = true;
    void Promise.all(sandboxes().map(({ sandbox, isBusy }) => check(sandbox, isBusy))).finally(() => {
      isChecking = false;
    });
  }, EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
