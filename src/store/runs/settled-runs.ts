import type { RedisClient } from "../connections/redis.ts";
import type { RedisKeys } from "../keys.ts";

type Deps = { redis: RedisClient; keys: RedisKeys };

/** What `RunQueue.settle` keeps of runs that are over, until their records are stored and their emissions enqueued. */
export interface SettledRuns {
  id: string;
  /** Unix milliseconds at which they were settled. */
  atMs: number;
}

/** The name of an entry: it begins with its time, and no other execution of these runs has it. */
export const settledId = (atMs: number, runId: string): string => `${atMs}-${runId}`;

/** Returns the entries that are kept for a source, oldest first. */
export async function listSettled({ redis, keys }: Deps, sourceId: string): Promise<SettledRuns[]> {
  const ids = await redis.hkeys(keys.settledRuns(sourceId));
  const entries = ids.map(id => ({ id, atMs: Number(id.slice(0, id.indexOf("-"))) }));
  return entries.sort((one, other) => one.atMs - other.atMs);
}

/** Returns the JSON of an entry and the score of its first emission; null if it is done. */
export async function readSettled(
  { redis, keys }: Deps,
  sourceId: string,
  id: string,
): Promise<{ text: string; score: number } | null> {
  const stored = await redis.hget(keys.settledRuns(sourceId), id);
  if (stored === null) return null;
  const space = stored.indexOf(" ");
  return { text: stored.slice(space + 1), score: Number(stored.slice(0, space)) };
}

/** Removes entries of which nothing is left to be done. */
export async function forgetSettled({ redis, keys }: Deps, sourceId: string, ids: string[]): Promise<void> {
  if (ids.length > 0) await redis.hdel(keys.settledRuns(sourceId), ...ids);
}
