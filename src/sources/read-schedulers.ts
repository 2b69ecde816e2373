import type { JobSchedulerJson } from "bullmq";
import { groupBy } from "../lib/group-by.ts";
import type { Platform } from "../platform.ts";
import { type OpenQueue, openedQueue } from "../queues/define-queue.ts";
import { runs } from "../queues/runs.ts";
import { shardFor, shardsOf } from "../queues/shards.ts";
import { script } from "../store/lua.ts";
import type { RedisClient } from "../store/redis.ts";

const read = script<string[]>("read-schedulers");

/** What decides when a source's job scheduler ticks. */
export type TimerScheduler = Pick<JobSchedulerJson, "key" | "next" | "every" | "pattern" | "tz">;

const FIELDS = 4;

/**
 * Returns the job schedulers of sources, by source id, in one round trip for each shard, and one more for those that are not
 * on their source's own (src/sources/move-scheduler.ts); BullMQ's own method asks for one, and reads its template too.
 * Throws `unavailable`.
 */
export async function readSchedulers(
  { queues, redis }: Pick<Platform, "queues" | "redis">,
  sourceIds: readonly string[],
): Promise<Map<string, TimerScheduler>> {
  const queue = openedQueue(queues, runs);
  const shards = shardsOf(queue);
  const own = groupBy([...sourceIds], id => shardFor(queue, id).name);
  const found = await readAll(redis, shards, ({ name }) => own.get(name) ?? []);
  if (shards.length === 1) return found;
  const missing = sourceIds.filter(id => !found.has(id));
  const elsewhere = await readAll(redis, shards, () => missing);
  return new Map([...elsewhere, ...found]);
}

/** Reads the schedulers of these sources on each shard. */
async function readAll(
  redis: RedisClient,
  shards: readonly OpenQueue[],
  idsOn: (shard: OpenQueue) => readonly string[],
): Promise<Map<string, TimerScheduler>> {
  const found = await Promise.all(shards.map(shard => readOn(redis, shard, idsOn(shard))));
  return new Map(found.flatMap(one => [...one]));
}

async function readOn(
  redis: RedisClient,
  shard: OpenQueue,
  sourceIds: readonly string[],
): Promise<Map<string, TimerScheduler>> {
  if (sourceIds.length === 0) return new Map();
  const values = await read(redis, [shard.toKey("repeat")], [...sourceIds]);
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
