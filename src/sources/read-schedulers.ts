import type { JobSchedulerJson } from "bullmq";
import type { Platform } from "../platform.ts";
import { type OpenQueue, openedQueue } from "../queues/define-queue.ts";
import { runs } from "../queues/runs.ts";
import { shardFor, shardsOf } from "../queues/shards.ts";
import { script } from "../store/lua.ts";
import { shardsOfSource, upsertScheduler } from "./timer-scheduler.ts";

const read = script<string[]>("read-schedulers");

/** What decides when a source's job scheduler ticks. */
export type TimerScheduler = Pick<JobSchedulerJson, "key" | "next" | "every" | "pattern" | "tz">;

const FIELDS = 4;

/**
 * Returns the job schedulers of sources, by source id, in one round trip to each shard; BullMQ's own method asks for one, and
 * reads its template too. One that is not on its source's own shard may still be on another
 * (src/sources/read-schedulers.ts). Throws `unavailable`.
 */
export async function readSchedulers(
  { queues, redis }: Pick<Platform, "queues" | "redis">,
  sourceIds: readonly string[],
): Promise<Map<string, TimerScheduler>> {
  const queue = openedQueue(queues, runs);
  const found = new Map<string, TimerScheduler>();
  const readFrom = async (idsAt: (shard: OpenQueue) => readonly string[]) => {
    const reads = shardsOf(queue).map(shard => readOnShard(redis, shard.toKey("repeat"), idsAt(shard)));
    for (const schedulers of await Promise.all(reads)) {
      for (const [id, scheduler] of schedulers) found.set(id, scheduler);
    }
  };
  await readFrom(shard => sourceIds.filter(id => shardFor(queue, id) === shard));
  const missing = sourceIds.filter(id => !found.has(id));
  await readFrom(shard => missing.filter(id => shardFor(queue, id) !== shard));
  return found;
}

async function readOnShard(
  redis: Platform["redis"],
  repeat: string,
  sourceIds: readonly string[],
): Promise<Map<string, TimerScheduler>> {
  if (sourceIds.length === 0) return new Map();
  const values = await read(redis, [repeat], [...sourceIds]);
  return new Map(
    sourceIds.flatMap((key, i) => {
      const [next = "", every, pattern, tz] = values.slice(i * FIELDS, (i + 1) * FIELDS);
      if (next === "") return [];
      const scheduler: TimerScheduler = {
        key,
        next: Number(next),
        ...(every && { every: Number(every) }),
        ...(pattern && { pattern }),
        ...(tz && { tz }),
      };
      return [[key, scheduler] as const];
    }),
  );
}

type Deps = Pick<Platform, "queues" | "clock">;

/** A scheduler that ticks sooner than this stays for once: its tick may be on its way, and must not come twice. */
const SOON_MS = 500;

/**
 * Moves the scheduler of a source that has just ticked to the source's own shard, if the number of shards has grown since
 * it was set. It goes on at the moment at which it would have ticked next. It is removed from where it was last, so that no
 * tick is lost; one that both then make has the same moment, and its run is one (src/store/admit-tick.ts). Throws as the
 * client does.
 */
export async function moveScheduler(
  platform: Deps,
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
