import type { JobSchedulerJson } from "bullmq";
import { RunRecords } from "../models/run.ts";
import { type Source, Sources, type StoredTimer, TICKING } from "../models/source.ts";
import type { Platform } from "../platform.ts";
import { openedQueue } from "../queues/define-queue.ts";
import { runs } from "../queues/runs.ts";
import { shardsOf } from "../queues/shards.ts";
import { type TickPlatform, tick, tickRunId } from "../runs/tick.ts";
import { lastDueMs } from "../sources/last-due.ts";
import { isTooLate } from "../sources/next-due.ts";
import {
  activeTimer,
  findScheduler,
  hasPendingTick,
  removeScheduler,
  resetScheduler,
  schedulerMatches,
  setScheduler,
} from "../sources/timer-scheduler.ts";
import { repairEach } from "../store/repair-each.ts";
import type { SweepBatch } from "../store/sweep-turns.ts";

type TimerPlatform = TickPlatform & Pick<Platform, "log">;

const BATCH = 200;
/** A timer whose next tick is overdue by this much may have stopped; so has one that is set this much too late. */
const LATE_MS = 60_000;

/**
 * Compares the timers in MongoDB, by source id, with BullMQ's job schedulers, and sets missing, wrong and stopped ones
 * again (docs/design.md#guarantee-7). A timer that is set again ticks once for all the moments it missed.
 */
export function beginTimerSweep(platform: TimerPlatform): SweepBatch {
  return async cursor => {
    const ticking = await Sources(platform.mongo)
      .find({ active: true, state: "ready", timer: { $type: "object" }, _id: { $gt: cursor ?? "" } })
      .sort({ _id: 1 })
      .limit(BATCH)
      .hint(TICKING)
      .lean<Source[]>();
    const schedulers = await Promise.all(ticking.map(({ _id }) => findScheduler(platform, _id)));
    const schedulerOf = new Map(ticking.map(({ _id }, index) => [_id, schedulers[index]]));
    const repaired = await repairEach(platform, ticking, {
      step: "timers",
      idOf: ({ _id }) => _id,
      repair: async source => {
        const timer = activeTimer(source);
        return timer !== null && (await repair(platform, source, timer, schedulerOf.get(source._id)));
      },
    });
    return { repaired, next: ticking.length < BATCH ? null : (ticking.at(-1)?._id ?? null) };
  };
}

/** Removes job schedulers whose source is gone or must not tick (docs/design.md#guarantee-7). */
export function beginSchedulerSweep(platform: TimerPlatform): SweepBatch {
  const shards = shardsOf(openedQueue(platform.queues, runs));
  return async cursor => {
    const [shard, at] = shardAndCursor(cursor);
    const key = (shards[shard] ?? shards[0])?.toKey("repeat") ?? "";
    // In the order of BullMQ's own set, which a scan goes through completely while timers come, go and tick.
    const [next, found] = await platform.redis.zscan(key, at, "COUNT", BATCH);
    const keys = found.filter((_, index) => index % 2 === 0);
    const sources: Pick<Source, "_id" | "active" | "state" | "timer">[] = await Sources(platform.mongo)
      .find({ _id: { $in: keys } }, { active: 1, state: 1, timer: 1 })
      .lean();
    const ticking = new Set(sources.filter(activeTimer).map(({ _id }) => _id));
    const repaired = await repairEach(
      platform,
      keys.filter(key => !ticking.has(key)),
      { step: "schedulers", idOf: key => key, repair: key => removeUnlessTicking(platform, key) },
    );
    if (next !== "0") return { repaired, next: `${shard} ${next}` };
    return { repaired, next: shard + 1 < shards.length ? `${shard + 1} 0` : null };
  };
}

/** The cursor of an older version is that of the first shard. */
function shardAndCursor(cursor: string | null): [shard: number, cursor: string] {
  const [shard = "0", at] = cursor?.split(" ") ?? ["0", "0"];
  return at === undefined ? [0, shard] : [Number(shard), at];
}

async function removeUnlessTicking(platform: TimerPlatform, key: string): Promise<boolean> {
  // Read again: the source may have been created in between.
  const source = await Sources(platform.mongo).findById(key).lean();
  if (source && activeTimer(source)) return false;
  await removeScheduler(platform, key);
  return true;
}

async function repair(
  platform: TimerPlatform,
  source: Source,
  timer: StoredTimer,
  scheduler: JobSchedulerJson | undefined,
): Promise<boolean> {
  const agrees = scheduler !== undefined && schedulerMatches(scheduler, timer);
  if (agrees && !(await hasStopped(platform, scheduler, timer))) return false;
  if (!scheduler || agrees) await tickForMissed(platform, source, timer);
  if (agrees) await resetScheduler(platform, source, timer, platform.clock());
  else await setScheduler(platform, source, timer);
  return true;
}

/**
 * Returns true if the timer has stopped, or waits for a moment that is none of its own. A late tick whose job exists
 * runs as soon as a worker is free, and setting its timer again would delete it. All cases are logged, late ones are
 * counted.
 */
async function hasStopped(
  platform: TimerPlatform,
  scheduler: { key: string; next?: number },
  timer: StoredTimer,
): Promise<boolean> {
  const { key, next } = scheduler;
  if (next === undefined) return false;
  const now = platform.clock();
  if (isTooLate(timer, next, now, LATE_MS)) {
    platform.log.warn({ source_id: key, due_at: next }, "timer was set too far ahead");
    return true;
  }
  if (next >= now - LATE_MS) return false;
  platform.metrics.count("timers_late_total", {});
  platform.log.warn({ source_id: key, due_at: next }, "timer missed its time");
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
