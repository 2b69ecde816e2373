import { hasId, hasNumber, ofPart, type Part } from "../lib/part.ts";
import { unixSeconds } from "../lib/time.ts";
import { RunRecords } from "../models/run.ts";
import { type Source, Sources, type StoredTimer, TICKING, TIMERS_CHANGED } from "../models/source.ts";
import type { Working } from "../platform.ts";
import { openedQueue } from "../queues/define-queue.ts";
import { runs } from "../queues/runs.ts";
import { shardsOf } from "../queues/shards.ts";
import { type Scheduler, StoredJobs } from "../queues/stored-jobs.ts";
import { tick, tickRunId } from "../runs/tick.ts";
import { isTooLate, lastDueMs } from "../sources/next-due.ts";
import {
  activeTimer,
  hasPendingTick,
  readSchedulers,
  removeScheduler,
  resetScheduler,
  schedulerMatches,
  setScheduler,
} from "../sources/timer-scheduler.ts";
import { repairEach } from "../store/sweeps/repair-each.ts";
import type { SweepBatch, SweepBounds } from "../store/sweeps/sweep-turns.ts";

const BATCH = 500;
/** A timer whose next tick is overdue by this much may have stopped; so has one that is set this much too late. */
const LATE_MS = 60_000;

/** A turn of a part looks at 5,000 timers that are right, some 100 ms of work; each batch that finds wrong ones is one more. */
export const TIMERS_BOUNDS: SweepBounds = { batches: 10, everyMs: 0 };
/** What a change of a source could not set is set in the next turn if the source was changed within this. Milliseconds. */
const CHANGED_MS = 600_000;

type TickingSource = Pick<Source, "_id" | "owner_id" | "active" | "state" | "timer" | "updated_at">;
const TICKING_FIELDS = { owner_id: 1, active: 1, state: 1, timer: 1, updated_at: 1 } as const;
const IS_TICKING = { active: true, state: "ready", timer: { $type: "object" } } as const;

/**
 * Compares the timers in MongoDB, by source id, with BullMQ's job schedulers, and sets missing, wrong and stopped ones
 * again (docs/design.md#guarantee-7). A timer that is set again ticks once for all the moments it missed. Each turn begins
 * with the timers that are most likely wrong, however many there are: the overdue ones, and those of sources that were
 * changed a moment ago.
 */
export function beginTimerSweep(platform: Working, part: Part): SweepBatch {
  const seen = new Set<string>();
  const repairUnseen = async (sources: TickingSource[]): Promise<number> => {
    const unseen: TickingSource[] = [];
    for (const source of sources) {
      if (!seen.has(source._id)) unseen.push(source);
      seen.add(source._id);
    }
    return await repairTimers(platform, unseen);
  };
  let isFirst = true;
  return async cursor => {
    let repaired = 0;
    if (isFirst)
      repaired += await repairUnseen([
        ...(await findOverdue(platform, part)),
        ...(await findChanged(platform, part)),
      ]);
    isFirst = false;
    const ticking = await Sources(platform.mongo)
      .find({ ...IS_TICKING, _id: { $gt: cursor ?? "", ...ofPart(part) } }, TICKING_FIELDS)
      .sort({ _id: 1 })
      .limit(BATCH)
      .hint(TICKING)
      .lean<TickingSource[]>();
    repaired += await repairUnseen(ticking);
    return { repaired, next: ticking.length < BATCH ? null : (ticking.at(-1)?._id ?? null) };
  };
}

/**
 * Returns sources of a part whose scheduler should have ticked before now, of those on each shard that are overdue for the
 * longest: a part holds sources of all shards.
 */
async function findOverdue({ mongo, redis, queues, clock }: Working, part: Part): Promise<TickingSource[]> {
  const overdue = await Promise.all(
    shardsOf(openedQueue(queues, runs)).map(shard =>
      new StoredJobs(redis, shard).overdueSchedulers(clock() - LATE_MS, BATCH * part.of),
    ),
  );
  const ids = overdue.flat().filter(id => hasId(part, id));
  if (ids.length === 0) return [];
  return await Sources(mongo)
    .find({ ...IS_TICKING, _id: { $in: ids } }, TICKING_FIELDS)
    .lean<TickingSource[]>();
}

/** Returns sources of a part that were changed a moment ago, the last ones. */
async function findChanged({ mongo, clock }: Working, part: Part): Promise<TickingSource[]> {
  const updated_at = { $gte: unixSeconds(clock() - CHANGED_MS) };
  const ids = part.of === 1 ? {} : { _id: ofPart(part) };
  return await Sources(mongo)
    .find({ ...IS_TICKING, updated_at, ...ids }, TICKING_FIELDS)
    .sort({ updated_at: -1 })
    .limit(BATCH)
    .hint(TIMERS_CHANGED)
    .lean<TickingSource[]>();
}

/** Repairs those of the timers that are not as they should be; returns how many. */
async function repairTimers(platform: Working, sources: TickingSource[]): Promise<number> {
  const schedulers = await readSchedulers(
    platform,
    sources.map(({ _id }) => _id),
  );
  const now = platform.clock();
  const wrong = sources.filter(source => {
    const timer = activeTimer(source);
    return timer !== null && !isRight(timer, schedulers.get(source._id), now);
  });
  return await repairEach(platform, wrong, {
    step: "timers",
    idOf: ({ _id }) => _id,
    repair: async source => {
      const timer = activeTimer(source);
      return timer !== null && (await repair(platform, source, timer, schedulers.get(source._id)));
    },
  });
}

/** Whether a scheduler ticks as its timer says, and in time. */
function isRight(timer: StoredTimer, scheduler: Scheduler | undefined, nowMs: number): boolean {
  if (!scheduler || !schedulerMatches(scheduler, timer)) return false;
  const { next } = scheduler;
  return next === undefined || (next >= nowMs - LATE_MS && !isTooLate(timer, next, nowMs, LATE_MS));
}

/** Removes job schedulers whose source is gone or must not tick (docs/design.md#guarantee-7). */
export function beginSchedulerSweep(platform: Working, part: Part): SweepBatch {
  const shards = shardsOf(openedQueue(platform.queues, runs)).filter((_, number) => hasNumber(part, number));
  return async cursor => {
    const [shard, at] = shardAndCursor(cursor);
    const queue = shards[shard] ?? shards[0];
    if (!queue) return { repaired: 0, next: null };
    const [next, keys] = await new StoredJobs(platform.redis, queue).scanSchedulers(at, BATCH);
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

async function removeUnlessTicking(platform: Working, key: string): Promise<boolean> {
  // Read again: the source may have been created in between.
  const source = await Sources(platform.mongo).findById(key).lean();
  if (source && activeTimer(source)) return false;
  await removeScheduler(platform, key);
  return true;
}

async function repair(
  platform: Working,
  source: TickingSource,
  timer: StoredTimer,
  scheduler: Scheduler | undefined,
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
  platform: Working,
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
async function tickForMissed(platform: Working, source: TickingSource, timer: StoredTimer): Promise<void> {
  const dueAtMs = lastDueMs(timer, platform.clock());
  // A moment before the source's last change does not belong to this timer.
  if (dueAtMs === null || dueAtMs <= source.updated_at * 1000) return;
  if (await RunRecords(platform.mongo).exists({ _id: tickRunId(source._id, dueAtMs) })) return;
  await tick(platform, source._id, dueAtMs);
}
