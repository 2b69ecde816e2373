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

/** A timer whose next tick lies this far back has stopped. */
const LATE_MS = 60_000;

/**
 * Compares BullMQ's job schedulers with the timers MongoDB says there are: sets missing, wrong and stopped ones anew,
 * removes the others (design.md, guarantee 7). A timer set anew ticks once for all the moments it missed.
 */
export async function reconcileTimers(platform: TimerPlatform): Promise<{ timers: number }> {
  const queue = openedQueue(platform.queues, runs);
  const schedulers = new Map(
    (await queue.getJobSchedulers(0, -1)).map(scheduler => [scheduler.key, scheduler]),
  );
  let mended = 0;
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
      if (await mend(platform, source, timer, scheduler)) mended += 1;
    } catch (error) {
      if (error instanceof AppError && error.code === "unavailable") throw error;
      // One that an older version took, and this one can't read, stops no other.
      platform.log.error({ source_id: source._id, err: error }, "timer can't be set");
    }
  }
  for (const key of schedulers.keys()) {
    // Read again: the source may have been made while we looked.
    const source = await Sources(platform.mongo).findById(key).lean();
    if (source && activeTimer(source)) continue;
    await queue.removeJobScheduler(key);
    mended += 1;
  }
  return { timers: mended };
}

async function mend(
  platform: TimerPlatform,
  source: Source,
  timer: StoredTimer,
  scheduler: JobSchedulerJson | undefined,
): Promise<boolean> {
  const agrees = scheduler !== undefined && schedulerMatches(scheduler, timer);
  if (agrees && !(await hasStopped(platform, scheduler))) return false;
  if (!scheduler || agrees) await makeUp(platform, source, timer);
  await setScheduler(platform, source._id, timer);
  return true;
}

/**
 * A late tick whose job is there comes as soon as a worker takes it; setting its timer anew would take it away. Either
 * is reported.
 */
async function hasStopped(
  platform: TimerPlatform,
  scheduler: { key: string; next?: number },
): Promise<boolean> {
  if (scheduler.next === undefined || scheduler.next >= platform.clock() - LATE_MS) return false;
  platform.counters.add("timers_late_total");
  platform.log.warn({ source_id: scheduler.key, due_at: scheduler.next }, "timer missed its time");
  return !(await hasPendingTick(platform, scheduler));
}

/** Ticks for the last moment of a cron timer that passed with no scheduler, as when Redis was lost. */
async function makeUp(platform: TimerPlatform, source: Source, timer: StoredTimer): Promise<void> {
  const dueAtMs = lastDueMs(timer, platform.clock());
  // A moment before its last change is none of this timer's.
  if (dueAtMs === null || dueAtMs <= source.updated_at * 1000) return;
  if (await RunRecords(platform.mongo).exists({ _id: tickRunId(source._id, dueAtMs) })) return;
  await tick(platform, source._id, dueAtMs);
}
