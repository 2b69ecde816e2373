import type { JobSchedulerJson } from "bullmq";
import { CronExpressionParser } from "cron-parser";
import type { Source, StoredTimer } from "../models/source.ts";
import type { Platform } from "../platform.ts";
import { openedQueue } from "../queues/define-queue.ts";
import { runs } from "../queues/runs.ts";

/** Clocks change by one hour nearly everywhere, by two at most. */
const LONGEST_CLOCK_CHANGE_MS = 3 * 3_600_000;
/** 29 February comes after eight years at the latest. */
const LONGEST_PAUSE_MS = 9 * 366 * 86_400_000;
/** Less than the minute between two moments. */
const SEARCHED_TO_MS = 30_000;

type Queues = Pick<Platform, "queues">;
type Scheduler = Pick<JobSchedulerJson, "pattern" | "tz" | "every">;

/** The timer a source must tick by now; null when it must not. */
export function wantedTimer(source: Pick<Source, "active" | "state" | "timer">): StoredTimer | null {
  return source.active && source.state === "ready" ? source.timer : null;
}

/** True when the scheduler ticks as the timer says. */
export function ticksAs(scheduler: Scheduler, timer: StoredTimer): boolean {
  if (timer.cron !== null)
    return scheduler.pattern === timer.cron && (scheduler.tz ?? "UTC") === (timer.timezone ?? "UTC");
  return Number(scheduler.every) === (timer.interval_seconds ?? 0) * 1000;
}

/**
 * Makes the job scheduler of a source agree with the source. One that agrees is left alone, so that nothing ticks
 * twice; MongoDB is the truth, and the reconciler calls this too (design.md, guarantee 7).
 */
export async function syncTimer(
  platform: Queues,
  source: Pick<Source, "_id" | "active" | "state" | "timer">,
): Promise<"kept" | "set" | "removed"> {
  const timer = wantedTimer(source);
  const queue = openedQueue(platform.queues, runs);
  const scheduler = await queue.getJobScheduler(source._id);
  if (!timer) {
    if (scheduler) await queue.removeJobScheduler(source._id);
    return scheduler ? "removed" : "kept";
  }
  if (scheduler && ticksAs(scheduler, timer)) return "kept";
  await setTimer(platform, source._id, timer);
  return "set";
}

/** Sets the scheduler anew: an interval ticks now and then each interval, a cron at its times. */
export async function setTimer(platform: Queues, sourceId: string, timer: StoredTimer): Promise<void> {
  const queue = openedQueue(platform.queues, runs);
  const repeat =
    timer.cron === null
      ? { every: (timer.interval_seconds ?? 0) * 1000 }
      : { pattern: timer.cron, tz: timer.timezone ?? "UTC" };
  await queue.upsertJobScheduler(sourceId, repeat, {
    name: runs.jobs.tick.name,
    data: { source_id: sourceId },
    opts: runs.jobs.tick.options,
  });
}

/** True when the job of the scheduler's next tick is there to come, however late; false when it has stopped. */
export async function isTicking(
  platform: Queues,
  scheduler: { key: string; next?: number },
): Promise<boolean> {
  const job = await openedQueue(platform.queues, runs).getJob(`repeat:${scheduler.key}:${scheduler.next}`);
  return job !== undefined && job.finishedOn === undefined;
}

/**
 * The newest moment of a cron timer before now, Unix milliseconds; null for an interval, which ticks as soon as it is
 * set anew, and for a cron that had none yet.
 */
export function lastMoment(timer: StoredTimer, nowMs: number): number | null {
  if (timer.cron === null) return null;
  const { cron, timezone } = timer;
  const next = (atMs: number): number => {
    try {
      const options = { currentDate: new Date(atMs), tz: timezone ?? "UTC" };
      return CronExpressionParser.parse(cron, options).next().getTime();
    } catch {
      // cron-parser gives up at some clock changes of half an hour.
      return Number.POSITIVE_INFINITY;
    }
  };
  let last = newestBefore(nowMs, next);
  if (last === null) return null;
  // Begun between the two times of a repeated hour, the search may have found the second, when nothing ticks.
  for (let at = next(last - LONGEST_CLOCK_CHANGE_MS); at < nowMs; at = next(at)) last = at;
  return last;
}

/**
 * Searches with `next` alone, as the scheduler goes: backwards, cron-parser misses a time that a clock change moved,
 * counts a repeated one twice, and gives up where the clocks change at midnight.
 */
function newestBefore(nowMs: number, next: (atMs: number) => number): number | null {
  let [low, high] = [nowMs - LONGEST_PAUSE_MS, nowMs];
  if (next(low) >= nowMs) return null;
  while (high - low > SEARCHED_TO_MS) {
    const middle = Math.floor((low + high) / 2);
    if (next(middle) < nowMs) low = middle;
    else high = middle;
  }
  return next(low);
}

export async function removeTimer(platform: Queues, sourceId: string): Promise<void> {
  await openedQueue(platform.queues, runs).removeJobScheduler(sourceId);
}
