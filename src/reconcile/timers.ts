import type { JobSchedulerJson } from "bullmq";
import { AppError } from "../lib/errors.ts";
import { RunRecords } from "../models/run.ts";
import { type Source, Sources, type StoredTimer } from "../models/source.ts";
import type { Platform } from "../platform.ts";
import { openedQueue } from "../queues/define-queue.ts";
import { runs } from "../queues/runs.ts";
import { type TickPlatform, tick, tickRunId } from "../runs/tick.ts";
import { lastDueMs } from "../sources/last-due.ts";
import { activeTimer, hasPendingTick, schedulerMatches, setScheduler } from "../sources/timer-scheduler.ts";

type TimerPlatform = TickPlatform & Pick<Platform, "log">;

/** A timer whose next tick is overdue by this much may have stopped. */
const LATE_MS = 60_000;

/**
 * Compares BullMQ's job schedulers with the timers in MongoDB: sets missing, wrong and stopped ones again and removes those
 * without a source (docs/design.md#guarantee-7). A timer that is set again ticks once for all the moments it missed.
 */
export async function reconcileTimers(platform: TimerPlatform): Promise<{ timers: number }> {
  const queue = openedQueue(platform.queues, runs);
  const schedulers = new Map(
    (await queue.getJobSchedulers(0, -1)).map(scheduler => [scheduler.key, scheduler]),
  );
  let repaired = 0;
  const ticking = Sources(platform.mongo)
    .find({ active: true, state: "ready", timer: { $type: "object" } })
    .lean<Source[]>()
    .cursor();
  for await (const source of ticking) {
    const timer = activeTimer(source);
    const scheduler = schedulers.get(source._id);
    schedulers.delete(source._id);
    if (!timer) continue;
    try {
      if (await repair(platform, source, timer, scheduler)) repaired += 1;
    } catch (error) {
      if (error instanceof AppError && error.code === "unavailable") throw error;
      // A timer that an older version accepted and this one can't read must stop no other.
      platform.log.error({ source_id: source._id, err: error }, "timer can't be set");
    }
  }
  for (const key of schedulers.keys()) {
    // Read again: the source may have been created in between.
    const source = await Sources(platform.mongo).findById(key).lean();
    if (source && activeTimer(source)) continue;
    await queue.removeJobScheduler(key);
    repaired += 1;
  }
  return { timers: repaired };
}

async function repair(
  platform: TimerPlatform,
  source: Source,
  timer: StoredTimer,
  scheduler: JobSchedulerJson | undefined,
): Promise<boolean> {
  const agrees = scheduler !== undefined && schedulerMatches(scheduler, timer);
  if (agrees && !(await hasStopped(platform, scheduler))) return false;
  if (!scheduler || agrees) await tickForMissed(platform, source, timer);
  await setScheduler(platform, source._id, timer, source.owner_id);
  return true;
}

/**
 * Returns true if the timer has stopped. A late tick whose job exists runs as soon as a worker is free, and setting its
 * timer again would delete it. Both cases are counted and logged.
 */
async function hasStopped(
  platform: TimerPlatform,
  scheduler: { key: string; next?: number },
): Promise<boolean> {
  if (scheduler.next === undefined || scheduler.next >= platform.clock() - LATE_MS) return false;
  platform.metrics.count("timers_late_total", {});
  platform.log.warn({ source_id: scheduler.key, due_at: scheduler.next }, "timer missed its time");
  return !(await hasPendingTick(platform, scheduler));
}

/** Ticks for the last moment that a cron timer missed without a scheduler, for example because Redis was lost. */
async function tickForMissed(platform: TimerPlatform, source: Source, timer: StoredTimer): Promise<void> {
  const dueAtMs = lastDueMs(timer, platform.clock());
  // A moment before the source's last change does not belong to this timer.
  if (dueAtMs === null || dueAtMs <= source.updated_at * 1000) return;
  if (await RunRecords(platform.mongo).exists({ _id: tickRunId(source._id, dueAtMs) })) return;
  await tick(platform, source._id, dueAtMs);
}
