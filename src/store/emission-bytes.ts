import type { RedisKeys } from "./keys.ts";
import type { RedisClient } from "./redis.ts";

/** Fewer bytes in one outbox are not counted: most events are small, and counting would cost as much as they do. */
export const COUNTED_FROM_BYTES = 8 * 1024;
/** A count that neither rises nor falls for so long is of a process that died; the account then starts again at 0. */
const FORGOTTEN_MS = 10 * 60_000;

type Deps = { redis: RedisClient; keys: RedisKeys };

/** Adds bytes to what waits on the queue of emissions for an account; a negative number takes them off. */
export async function countEmissionBytes(
  { redis, keys }: Deps,
  ownerId: string,
  bytes: number,
): Promise<void> {
  const key = keys.emissionBytes(ownerId);
  await redis.multi().incrby(key, Math.round(bytes)).pexpire(key, FORGOTTEN_MS).exec();
}

/** Returns the bytes of an account that wait on the queue of emissions. */
export async function readEmissionBytes({ redis, keys }: Deps, ownerId: string): Promise<number> {
  return Math.max(0, Number((await redis.get(keys.emissionBytes(ownerId))) ?? 0));
}
