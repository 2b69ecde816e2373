import type { JobSchedulerJson } from "bullmq";
import type { Source, StoredTimer } from "../models/source.ts";
import type { Queued, Stores } from "../platform.ts";
import { type OpenQueue, ofAccount, ofVersion, openedQueue } from "../queues/define-queue.ts";
import { PRIORITY_WHEN_DUE } from "../queues/fair-order.ts";
import { runs } from "../queues/runs.ts";
import { removeJob, shardFor, shardsOf } from "../queues/shards.ts";
import { type Scheduler, StoredJobs } from "../queues/stored-jobs.ts";
import { nextMatchMs } from "./next-due.ts";

/** Its ticks take the turns of its owner; if that is not known, turns of its own. */
type Owned = Pick<Source, "_id"> & { owner_id?: string | undefined };
type TimedSource = Owned & Pick<Source, "active" | "state" | "timer">;

/** Returns the timer that a source must tick by now; null if it must not tick. */
export function activeTimer(source: Pick<Source, "active" | "state" | "timer">): StoredTimer | null {
  return source.active && source.state === "ready" ? source.timer : null;
}

/** True if a job scheduler ticks as the timer says. */
export function schedulerMatches(
  scheduler: Pick<JobSchedulerJson, "pattern" | "tz" | "every">,
  timer: StoredTimer,
): boolean {
  if (timer.cron !== null)
    return scheduler.pattern === timer.cron && (scheduler.tz ?? "UTC") === (timer.timezone ?? "UTC");
  return Number(scheduler.every) === (timer.interval_seconds ?? 0) * 1000;
}

/**
 * Makes BullMQ's job scheduler of a source agree with the source in MongoDB, which decides. A scheduler that agrees
 * is left alone, because setting it again would make it tick once more. The reconciler repairs schedulers in the same
 * way (docs/design.md#guarantee-7).
 */
export async function syncScheduler(
  platform: Queued,
  source: TimedSource,
): Promise<"unchanged" | "set" | "removed"> {
  const timer = activeTimer(source);
  const scheduler = await findScheduler(platform, source._id);
  if (!timer) {
    if (scheduler) await removeScheduler(platform, source._id);
    return scheduler ? "removed" : "unchanged";
  }
  if (scheduler && schedulerMatches(scheduler, timer)) return "unchanged";
  await setScheduler(platform, source, timer);
  return "set";
}

/** As `syncScheduler`, but a failure is only logged: the reconciler sets the scheduler once Redis responds again. */
export async function syncSchedulerOrWarn(platform: Stores & Queued, source: TimedSource): Promise<void> {
  try {
    await syncScheduler(platform, source);
  } catch (error) {
    platform.log.warn({ source_id: source._id, err: error }, "timer waits for the reconciler");
  }
}

/**
 * Returns the scheduler of a source: on its own shard, or where it still is since the number of shards has grown
 * (src/sources/timer-scheduler.ts).
 */
export async function findScheduler(
  platform: Queued,
  sourceId: string,
): Promise<JobSchedulerJson | undefined> {
  const [own, ...others] = shardsOfSource(platform, sourceId);
  const found = await own.getJobScheduler(sourceId);
  if (found || others.length === 0) return found;
  const elsewhere = await Promise.all(others.map(shard => shard.getJobScheduler(sourceId)));
  return elsewhere.find(scheduler => scheduler !== undefined);
}

/** Returns the shard of a source's scheduler, and the others, where it may have been. */
function shardsOfSource({ queues }: Queued, sourceId: string): [own: OpenQueue, ...others: OpenQueue[]] {
  const queue = openedQueue(queues, runs);
  const own = shardFor(queue, sourceId);
  return [own, ...shardsOf(queue).filter(shard => shard !== own)];
}

/** Creates or replaces a source's scheduler. An interval ticks at once and after each interval, a cron at its times. */
export async function setScheduler(platform: Queued, source: Owned, timer: StoredTimer): Promise<void> {
  const [own, ...others] = shardsOfSource(platform, source._id);
  const repeat =
    timer.cron === null
      ? { every: (timer.interval_seconds ?? 0) * 1000 }
      : { pattern: timer.cron, tz: timer.timezone ?? "UTC" };
  await upsertScheduler(own, source, repeat);
  // After it: a source that is being changed must not be without a timer if this process dies here.
  await Promise.all(others.map(shard => shard.removeJobScheduler(source._id)));
}

/** Sets the scheduler of a source on one shard. */
async function upsertScheduler(
  shard: OpenQueue,
  { _id: sourceId, owner_id }: Owned,
  repeat: Parameters<OpenQueue["upsertJobScheduler"]>[1],
): Promise<void> {
  await shard.upsertJobScheduler(sourceId, repeat, {
    name: runs.jobs.tick.name,
    data: { source_id: sourceId, ...(owner_id !== undefined && { account_id: owner_id }) },
    opts: {
      ...runs.jobs.tick.options,
      ...ofVersion(runs.jobs.tick.writes),
      priority: PRIORITY_WHEN_DUE,
      ...(owner_id !== undefined && ofAccount(owner_id)),
    },
  });
}

/**
 * Sets a scheduler that stands at a wrong moment. It is removed first, because BullMQ keeps the moment of one that it
 * replaces, and so is the finished tick of its next moment, which would block the right one. `nowMs` is in
 * Unix milliseconds.
 */
export async function resetScheduler(
  platform: Queued,
  source: Owned,
  timer: StoredTimer,
  nowMs: number,
): Promise<void> {
  await removeScheduler(platform, source._id);
  if (timer.cron !== null) {
    const nextMs = nextMatchMs(timer.cron, timer.timezone, nowMs);
    await removeJob(openedQueue(platform.queues, runs), tickJobId(source._id, nextMs));
  }
  await setScheduler(platform, source, timer);
}

/** Returns when a source's timer ticks next, in Unix milliseconds; null without a timer, and while it is off. */
export async function nextTickMs(platform: Queued, source: TimedSource): Promise<number | null> {
  if (activeTimer(source) === null) return null;
  const scheduler = await findScheduler(platform, source._id);
  return scheduler?.next ?? null;
}

/**
 * True if the job of the scheduler's next tick still waits, however late it is. False means that the scheduler has
 * stopped: the next job is created when this one starts.
 */
export async function hasPendingTick(
  platform: Queued,
  scheduler: { key: string; next?: number },
): Promise<boolean> {
  const jobId = tickJobId(scheduler.key, scheduler.next ?? 0);
  const shards = shardsOf(openedQueue(platform.queues, runs));
  const jobs = await Promise.all(shards.map(shard => shard.getJob(jobId)));
  return jobs.some(job => job !== undefined && job.finishedOn === undefined);
}

/** The id that BullMQ gives to the tick of a moment. */
const tickJobId = (sourceId: string, dueAtMs: number): string => `repeat:${sourceId}:${dueAtMs}`;

/** Removes a source's scheduler, if it has one, and its next tick. */
export async function removeScheduler(platform: Queued, sourceId: string): Promise<void> {
  await Promise.all(shardsOfSource(platform, sourceId).map(shard => shard.removeJobScheduler(sourceId)));
}

/**
 * Returns the job schedulers of sources, by source id, in one round trip to each shard. One that is not on its source's own shard may still be on another
 * (src/sources/timer-scheduler.ts). Throws `unavailable`.
 */
export async function readSchedulers(
  { queues, redis }: Stores & Queued,
  sourceIds: readonly string[],
): Promise<Map<string, Scheduler>> {
  const queue = openedQueue(queues, runs);
  const found = new Map<string, Scheduler>();
  const readFrom = async (idsAt: (shard: OpenQueue) => readonly string[]) => {
    const reads = shardsOf(queue).map(shard => new StoredJobs(redis, shard).schedulers(idsAt(shard)));
    for (const schedulers of await Promise.all(reads)) {
      for (const [id, scheduler] of schedulers) found.set(id, scheduler);
    }
  };
  await readFrom(shard => sourceIds.filter(id => shardFor(queue, id) === shard));
  const missing = sourceIds.filter(id => !found.has(id));
  await readFrom(shard => missing.filter(id => shardFor(queue, id) !== shard));
  return found;
}

/** A scheduler that ticks sooner than this stays for once: its tick may be on its way, and must not come twice. */
const SOON_MS = 500;

/**
 * Moves the scheduler of a source that has just ticked to the source's own shard, if the number of shards has grown since
 * it was set. It goes on at the moment at which it would have ticked next. It is removed from where it was last, so that no
 * tick is lost; one that both then make has the same moment, and its run is one (src/store/runs/admit-tick.ts). Throws as the
 * client does.
 */
export async function moveScheduler(
  platform: Stores & Queued,
  source: { source_id: string; account_id?: string | undefined },
): Promise<"moved" | "stays"> {
  const { source_id: sourceId, account_id: owner_id } = source;
  const [own, ...others] = shardsOfSource(platform, sourceId);
  for (const shard of others) {
    const scheduler = await shard.getJobScheduler(sourceId);
    const { next, every, pattern, tz } = scheduler ?? {};
    if (next === undefined || next < platform.clock() + SOON_MS) continue;
    // Already there if an earlier move ended half-way, or the source was changed since.
    if ((await own.getJobScheduler(sourceId)) === undefined) {
      const repeat =
        pattern === undefined ? { every: Number(every), startDate: next } : { pattern, tz: tz ?? "UTC" };
      await upsertScheduler(own, { _id: sourceId, owner_id }, repeat);
    }
    await shard.removeJobScheduler(sourceId);
    return "moved";
  }
  return "stays";
}
