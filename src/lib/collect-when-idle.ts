import { performance } from "node:perf_hooks";
import { getHeapStatistics, setFlagsFromString } from "node:v8";

const LOOK_MS = 10_000;
/** Of the time between two looks. */
const IDLE_SHARE = 0.05;
/** A collection stops everything for some 0.1 s, and a few events a second are idle time: the next one is so many looks later. */
const LOOKS_BETWEEN = 6;
const MB = 1024 * 1024;
/** Less garbage than this is not worth a collection. */
const GROWN_BYTES = 6 * MB;

/** Collects all garbage, and closes the gaps: else pages of the heap stay that are nearly empty. */
function collectAll(gc: () => void): void {
  setFlagsFromString("--compact-on-every-full-gc");
  gc();
  setFlagsFromString("--no-compact-on-every-full-gc");
}

interface Options {
  /** What collects; undefined without `--expose-gc`, which the Procfiles have. */
  gc?: (() => void) | undefined;
  /** The memory of the heap, in bytes. */
  heapBytes?: () => number;
  lookMs?: number;
}

/**
 * Collects the garbage of this process while it does nothing, once its heap has grown by some MB since the last time. V8
 * itself collects only when it must: an idle process would keep what a start or a busy hour left behind, which is most of
 * its heap (docs/performance.md#what-the-dashboard-costs-the-web-process). Returns what ends it.
 */
export function collectWhenIdle({
  gc = globalThis.gc,
  heapBytes = () => getHeapStatistics().total_physical_size,
  lookMs = LOOK_MS,
}: Options = {}): () => void {
  if (gc === undefined) return () => undefined;
  let last = performance.eventLoopUtilization();
  let kept = 0;
  let looks = LOOKS_BETWEEN;
  let isSecondDue = false;
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const isIdle = performance.eventLoopUtilization(now, last).utilization < IDLE_SHARE;
    last = now;
    looks += 1;
    // V8 gives back what a collection freed a moment after it.
    kept = Math.min(kept, heapBytes());
    const hasGrown = looks >= LOOKS_BETWEEN && heapBytes() - kept >= GROWN_BYTES;
    if (!isIdle || !(hasGrown || isSecondDue)) return;
    looks = 0;
    // The space for new objects, up to 32 MB, is given back only by a collection that had little to do.
    isSecondDue = !isSecondDue;
    collectAll(gc);
    kept = heapBytes();
  }, lookMs);
  timer.unref();
  return () => clearInterval(timer);
}
