import { readFile } from "node:fs/promises";
import { exceedsLimit } from "./measure-folder.ts";
import type { Sandbox } from "./sandbox.ts";
import { ended } from "./spawn.ts";

export interface WatchdogOptions {
  sandboxes: () => { sandbox: Sandbox; isBusy: boolean }[];
  heapMb: number;
}

const EVERY_MS = 500;
/** deno itself, compiled code and a fair share of buffers, which lie outside the heap that V8 limits. */
const BESIDES_HEAP_MB = 192;
/** What garbage collection and a closing connection may use between calls. */
const IDLE_CPU_MS = 2000;
/** `/proc/<pid>/stat` counts in these; 100 a second on every Linux. */
const TICK_MS = 10;
const PAGE_BYTES = 4096;
/** Of the private folder; more would be the installation's disk, which all share. */
const DISK = { maxBytes: 64 * 1024 * 1024, maxEntries: 2000 };

/**
 * Ends a child that takes memory outside of its heap (buffers are not in V8's limit), or computes while no call is
 * under way (an endless loop left behind by a call would never meet a wall clock), or fills the disk. Memory and
 * computing are told by `/proc`, so on Linux only.
 */
export function startWatchdog(options: WatchdogOptions): () => void {
  const idleCpu = new WeakMap<Sandbox, number>();
  let isChecking = false;

  async function check(sandbox: Sandbox, isBusy: boolean): Promise<void> {
    if (await exceedsLimit(sandbox.directory, DISK)) {
      sandbox.kill(ended("Error", `The component wrote more files than ${DISK.maxBytes / 1024 / 1024} MB`));
    }
    const used = await readUsage(sandbox.pid);
    if (!used) return;
    if (used.memoryBytes > (options.heapMb + BESIDES_HEAP_MB) * 1024 * 1024) {
      sandbox.kill(ended("Out of Memory", "The component used more memory than it may"));
    }
    const before = idleCpu.get(sandbox);
    if (isBusy) idleCpu.delete(sandbox);
    else if (before === undefined) idleCpu.set(sandbox, used.cpuMs);
    else if (used.cpuMs - before > IDLE_CPU_MS)
      sandbox.kill(ended("Error", "The component computed between two runs"));
  }

  const timer = setInterval(() => {
    if (isChecking) return;
    isChecking = true;
    void Promise.all(options.sandboxes().map(({ sandbox, isBusy }) => check(sandbox, isBusy))).finally(() => {
      isChecking = false;
    });
  }, EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

async function readUsage(pid: number): Promise<{ memoryBytes: number; cpuMs: number } | undefined> {
  try {
    const [statm, stat] = await Promise.all([
      readFile(`/proc/${pid}/statm`, "utf8"),
      readFile(`/proc/${pid}/stat`, "utf8"),
    ]);
    // The second field is the command in parentheses and may hold spaces; times are fields 14 and 15.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return {
      memoryBytes: Number(statm.split(" ")[1]) * PAGE_BYTES,
      cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS,
    };
  } catch {
    return undefined;
  }
}
