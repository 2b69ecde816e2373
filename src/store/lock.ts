import { script } from "./lua.ts";
import type { RedisClient } from "./redis.ts";

const acquire = script<number>("acquire-lock");

/** Acquires or renews a lock for `ttlMs`; returns true while `token` holds it. */
export async function acquireLock(
  redis: RedisClient,
  key: string,
  token: string,
  ttlMs: number,
): Promise<boolean> {
  return (await acquire(redis, [key], [token, ttlMs])) === 1;
}
