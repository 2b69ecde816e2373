import type { JobSchedulerJson } from "bullmq";
import type { Platform } from "../platform.ts";
import { type OpenQueue, openedQueue } from "../queues/define-queue.ts";
import { runs } from "../queues/runs.ts";
import { shardFor, shardsOf } from "../queues/shards.ts";
import { script } from "../store/lua.ts";

const read = script<string[]>("read-schedulers");

/** What decides when a source's job scheduler ticks. */
export type TimerScheduler = Pick<JobSchedulerJson, "key" | "next" | "every" | "pattern" | "tz">;

const FIELDS = 4;

/**
 * Returns the job schedulers of sources, by source id, in one round trip to each shard; BullMQ's own method asks for one, and
 * reads its template too. One that is not on its source's own shard may still be on another
 * (src/sources/move-scheduler.ts). Throws `unavailable`.
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
