import type { StoredTimer } from "../models/source.ts";
import { MAX_CLOCK_CHANGE_MS, nextMatchMs } from "./next-due.ts";

/** The longest time between two matches: 29 February can be eight years away. */
const MAX_GAP_MS = 9 * 366 * 86_400_000;
/** The search ends at this accuracy; two matches are at least a minute apart. */
const ACCURACY_MS = 30_000;

/**
 * Returns the last time before `nowMs` at which a cron timer was due (both Unix milliseconds). Returns null if the
 * timer was never due, and for an interval, because setting its scheduler makes it tick at once anyway.
 */
export function lastDueMs(timer: StoredTimer, nowMs: number): number | null {
  const { cron, timezone } = timer;
  if (cron === null) return null;
  const nextDueMs = (afterMs: number) => nextMatchMs(cron, timezone, afterMs);
  let last = searchBackwards(nowMs, nextDueMs);
  if (last === null) return null;
  // If the search started between the two occurrences of a repeated hour, it may have found a time in the second one,
  // when the scheduler does not tick. Going forward from before the change gives the scheduler's own times.
  for (let at = nextDueMs(last - MAX_CLOCK_CHANGE_MS); at < nowMs; at = nextDueMs(at)) last = at;
  return last;
}

/**
 * Bisects with `nextDueMs` alone, because that is what the scheduler uses. cron-parser's own backward search misses a
 * time that a clock change moved, returns a repeated time twice, and fails where the clocks change at midnight.
 */
function searchBackwards(nowMs: number, nextDueMs: (afterMs: number) => number): number | null {
  let [low, high] = [nowMs - MAX_GAP_MS, nowMs];
  if (nextDueMs(low) >= nowMs) return null;
  while (high - low > ACCURACY_MS) {
    const middle = Math.floor((low + high) / 2);
    if (nextDueMs(middle) < nowMs) low = middle;
    else high = middle;
  }
  return nextDueMs(low);
}
