import { CronExpressionParser } from "cron-parser";
import { LRUCache } from "lru-cache";
import type { StoredTimer } from "../models/source.ts";

/** Clocks change by one hour nearly everywhere, and by at most two. */
const MAX_CLOCK_CHANGE_MS = 3 * 3_600_000;

/** Pattern and zone to their next moment: many sources share a pattern, and the reconciler asks about each. */
const nextByPattern = new LRUCache<string, number>({ max: 10_000 });

/**
 * True if a timer's next tick (`nextMs`) is over `slackMs` later than the timer can be due next, for example because it
 * was set by a machine whose clock was ahead. All are in milliseconds.
 */
export function isTooLate(timer: StoredTimer, nextMs: number, nowMs: number, slackMs: number): boolean {
  const { cron, timezone, interval_seconds } = timer;
  if (cron === null) return nextMs > nowMs + (interval_seconds ?? 0) * 1000 + slackMs;
  if (nextMs <= cachedNextMatchMs(cron, timezone, nowMs) + slackMs) return false;
  // A time within an hour that a clock change repeats may match a second time, when the scheduler does not tick.
  let at = nextMatchMs(cron, timezone, nowMs - MAX_CLOCK_CHANGE_MS);
  while (at <= nowMs) at = nextMatchMs(cron, timezone, at);
  return nextMs > at + slackMs;
}

function cachedNextMatchMs(cron: string, timezone: string | null, nowMs: number): number {
  const key = `${timezone} ${cron}`;
  const known = nextByPattern.get(key);
  if (known !== undefined && known > nowMs) return known;
  const next = nextMatchMs(cron, timezone, nowMs);
  nextByPattern.set(key, next);
  return next;
}

/** Returns the first time after `afterMs` at which a cron pattern is due, as the job scheduler finds it. */
export function nextMatchMs(cron: string, timezone: string | null, afterMs: number): number {
  try {
    const options = { currentDate: new Date(afterMs), tz: timezone ?? "UTC" };
    return CronExpressionParser.parse(cron, options).next().getTime();
  } catch {
    // cron-parser fails at some clock changes of half an hour.
    return Number.POSITIVE_INFINITY;
  }
}

/** The longest time between two matches: 29 February can be eight years away. */
const MAX_GAP_MS = 9 * 366 * 86_400_000;
/** The search begins so far before the present, and goes further until a match is found. */
const FIRST_GAP_MS = 120_000;
const FORWARD_STEPS = 4;
/** The search ends at this accuracy; two matches are at least a minute apart. */
const ACCURACY_MS = 30_000;

/** Pattern and zone to their last moment, good until the next one: after a loss of Redis it is asked for every timer. */
const lastByPattern = new LRUCache<string, { lastMs: number; nextMs: number }>({ max: 10_000 });

/**
 * Returns the last time before `nowMs` at which a cron timer was due (both Unix milliseconds). Returns null if the
 * timer was never due, and for an interval, because setting its scheduler makes it tick at once anyway.
 */
export function lastDueMs(timer: StoredTimer, nowMs: number): number | null {
  const { cron, timezone } = timer;
  if (cron === null) return null;
  const key = `${timezone} ${cron}`;
  const known = lastByPattern.get(key);
  if (known && known.lastMs < nowMs && nowMs <= known.nextMs) return known.lastMs;
  const nextDueMs = (afterMs: number) => nextMatchMs(cron, timezone, afterMs);
  let last = searchBackwards(nowMs, nextDueMs);
  if (last === null) return null;
  // If the search started between the two occurrences of a repeated hour, it may have found a time in the second one,
  // when the scheduler does not tick. Going forward from before the change gives the scheduler's own times.
  for (let at = nextDueMs(last - MAX_CLOCK_CHANGE_MS); at < nowMs; at = nextDueMs(at)) last = at;
  const nextMs = nextDueMs(last);
  // Where cron-parser fails, the next moment is not known.
  if (Number.isFinite(nextMs)) lastByPattern.set(key, { lastMs: last, nextMs });
  return last;
}

/**
 * Goes back, forward and bisects with `nextDueMs` alone, because that is what the scheduler uses. cron-parser's own
 * backward search misses a time that a clock change moved, returns a repeated time twice, and fails where the clocks change
 * at midnight.
 */
function searchBackwards(nowMs: number, nextDueMs: (afterMs: number) => number): number | null {
  let gapMs = FIRST_GAP_MS;
  while (nextDueMs(nowMs - gapMs) >= nowMs) {
    if (gapMs === MAX_GAP_MS) return null;
    gapMs = Math.min(gapMs * 4, MAX_GAP_MS);
  }
  let [low, high] = [nowMs - gapMs, nowMs];
  // Of a regular pattern few matches are left.
  let at = nextDueMs(low);
  for (let steps = 0; steps < FORWARD_STEPS; steps++) {
    const next = nextDueMs(at);
    if (next >= nowMs) return at;
    at = next;
  }
  while (high - low > ACCURACY_MS) {
    const middle = Math.floor((low + high) / 2);
    if (nextDueMs(middle) < nowMs) low = middle;
    else high = middle;
  }
  return nextDueMs(low);
}
