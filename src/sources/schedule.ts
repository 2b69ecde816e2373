import type { JobSchedulerJson } from "bullmq";
import { CronExpressionParser } from "cron-parser";
import type { Platform } from "../platform.ts";
import { openedQueue } from "../queues/define-queue.ts";
import { runs } from "../queues/runs.ts";
import type { Source, StoredTimer } from "./model.ts";

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
    name: runs.name,
    data: { kind: "tick", source_id: sourceId },
    opts: runs.options,
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
 * set anew.
 */
export function lastMoment(timer: StoredTimer, nowMs: number): number | null {
  if (timer.cron === null) return null;
  const options = { currentDate: new Date(nowMs), tz: timer.timezone ?? "UTC" };
  return CronExpressionParser.parse(timer.cron, options).prev().getTime();
}

export async function removeTimer(platform: Queues, sourceId: string): Promise<void> {
  await openedQueue(platform.queues, runs).removeJobScheduler(sourceId);
}
