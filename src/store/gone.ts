import { timeOfId } from "../lib/ids.ts";
import type { RedisClient } from "./connections/redis.ts";
import type { RedisKeys } from "./keys.ts";

type Deps = { redis: RedisClient; keys: RedisKeys; clock: () => number };

/** Right after a failover a read may miss a document that was written this long ago. Milliseconds. */
const YOUNG_MS = 60_000;

/** Longer than a delivery is kept, which may still end, and count as dropped, after its emitter was deleted. */
const REMEMBERED_MS = 31 * 86_400_000;

/** Remembers that a document is deleted, for as long as anything of it may be on its way. Throws `unavailable`. */
export async function noteDeleted({ redis, keys }: Omit<Deps, "clock">, id: string): Promise<void> {
  await redis.set(keys.deleted(id), "1", "PX", REMEMBERED_MS);
}

/**
 * Returns true if a document that a read didn't find does not exist: it was deleted, or it is too old to be missed. False
 * means that a read after a failover may lag behind, so that nothing may be dropped or deleted on its account. Throws
 * `unavailable`.
 */
export async function isGone({ redis, keys, clock }: Deps, id: string): Promise<boolean> {
  const createdAtMs = timeOfId(id);
  if (createdAtMs === null || Math.abs(clock() - createdAtMs) >= YOUNG_MS) return true;
  return (await redis.exists(keys.deleted(id))) === 1;
}
