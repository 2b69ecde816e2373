import { exceedsLimit } from "./measure-folder.ts";
import type { Sandbox } from "./sandbox.ts";
import { ended } from "./spawn.ts";

export interface WatchdogOptions {
  sandboxes: () => { sandbox: Sandbox; isBusy: boolean }[];
  /** Of the process: its heap and what lies beside it. */
  memoryMb: number;
  /** Of one call. */
  cpuMs: number;
}

const EVERY_MS = 500;
/** What garbage collection and a closing connection may use between calls. */
const IDLE_CPU_MS = 2000;
/** Of the private folder; more would be the installation's disk, which all share. */
export const DISK = { maxBytes: 64 * 1024 * 1024, maxEntries: 2000 };

/**
 * Ends a child that takes memory outside of its heap (buffers are not in V8's limit), or computes longer than a call
 * may, or while none is under way (an endless loop left behind by a call would never meet a wall clock), or fills the
 * disk. Memory and computing are told by `/proc`, so on Linux only.
 */
export function startWatchdog({ sandboxes, memoryMb, cpuMs }: WatchdogOptions): () => void {
  const idleCpu = new WeakMap<Sandbox, number>();
  let isChecking = false;

  async function check(sandbox: Sandbox, isBusy: boolean): Promise<void> {
    const used = sandbox.usage();
    if (used.memoryBytes > memoryMb * 1024 * 1024) {
      sandbox.kill(ended("Out of Memory", "The component used more memory than it may"));
    }
    if (used.callCpuMs !== undefined && used.callCpuMs > cpuMs) {
      sandbox.kill(ended("Timeout", `The component computed longer than ${cpuMs} ms`));
    }
    const before = idleCpu.get(sandbox);
    if (isBusy) idleCpu.delete(sandbox);
    else if (before === undefined) idleCpu.set(sandbox, used.cpuMs);
    else if (used.cpuMs - before > IDLE_CPU_MS)
      sandbox.kill(ended("Error", "The component computed between two runs"));
    if (await exceedsLimit(sandbox.directory, DISK)) {
      sandbox.kill(ended("Error", `The component wrote more files than ${DISK.maxBytes / 1024 / 1024} MB`));
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
