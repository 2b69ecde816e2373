import type { Sample, Usage } from "./usage.ts";

/** What one call took. */
export interface Spent {
  durationMs: number;
  cpuMs: number;
  memoryBytes: number;
}

/** From this long on the other threads' share is worth looking up. */
const LONG_CALL_MS = 100;
/** Looking costs as much as a quick call's tenth, so calls that end sooner after a look count as computing all along. */
const LOOK_AFTER_MS = 2;

export type Meter = ReturnType<typeof openMeter>;

/**
 * Measures calls that follow each other in one process. How they share the time between them is the child's word, how
 * much it is in all is not: what it leaves out counts for the last.
 */
export function openMeter(usage: Usage) {
  let endedAt = performance.now();
  let lookedAt = endedAt;
  let seen = usage.sample(false);
  /** Processor time given to calls since the last look. */
  let givenMs = 0;
  let memoryBytes = seen.memoryBytes;

  /** `isExact` counts the threads beside the component's own; see `openUsage`. */
  function look(isExact: boolean): Sample {
    const now = usage.sample(isExact);
    memoryBytes = Math.max(memoryBytes, now.memoryBytes);
    return now;
  }

  return {
    look,
    /** Processor time of the process when the call under way began. */
    cpuMsBefore: () => seen.cpuMs,
    /** One call has ended, after `toldMs` by its own word; the last one after all the time that is left. */
    end(toldMs: number, isLast: boolean): Spent {
      const now = performance.now();
      const sinceMs = now - endedAt;
      const durationMs = isLast ? sinceMs : Math.min(toldMs, sinceMs);
      endedAt += durationMs;
      let cpuMs = durationMs;
      if (isLast || now - lookedAt >= LOOK_AFTER_MS) {
        const found = look(durationMs >= LONG_CALL_MS);
        cpuMs = Math.max(0, found.cpuMs - seen.cpuMs - givenMs);
        seen = found;
        lookedAt = now;
        givenMs = 0;
      } else givenMs += cpuMs;
      const spent = { durationMs, cpuMs, memoryBytes };
      memoryBytes = seen.memoryBytes;
      return spent;
    },
  };
}
