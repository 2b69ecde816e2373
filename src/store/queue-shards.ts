import type { RedisClient } from "./connections/redis.ts";
import type { RedisKeys } from "./keys.ts";
import { script } from "./lua.ts";

/** Into how many parts a queue is divided. */
export interface ShardCount {
  /** How many producers use. */
  producing: number;
  /** How many may hold jobs, and need consumers. */
  consuming: number;
}

const grow = script<number[]>("grow-queue-shards");

/**
 * Raises the stored numbers of shards to those that are wanted, by queue, and returns the numbers that hold now: a stored
 * number never falls. `graceMs`: how long after that producers use a higher number. Throws as the client does.
 */
export async function growQueueShards(
  { redis, keys }: { redis: RedisClient; keys: RedisKeys },
  wanted: ReadonlyMap<string, number>,
  graceMs: number,
): Promise<Map<string, ShardCount>> {
  const names = [...wanted.keys()];
  const numbers = await grow(redis, [keys.queueShards()], [graceMs, ...[...wanted].flat()]);
  return new Map(
    names.map((name, i) => [name, { producing: numbers[2 * i] ?? 1, consuming: numbers[2 * i + 1] ?? 1 }]),
  );
}
