import { CronExpressionParser } from "cron-parser";
import { LRUCache } from "lru-cache";
import type { StoredTimer } from "../models/source.ts";

/** Clocks change by one hour nearly everywhere, and by at most two. */
export const MAX_CLOCK_CHANGE_MS = 3 * 3_600_000;

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
