import { HeldLock } from "../lib/held-lock.ts";
import type { RedisClient } from "./connections/redis.ts";
import { script } from "./lua.ts";

const acquire = script<number>("acquire-lock");
const release = script<number>("release-lock");

/** Acquires or renews a lock for `ttlMs`; returns true while `token` holds it. */
export async function acquireLock(
  redis: RedisClient,
  key: string,
  token: string,
  ttlMs: number,
): Promise<boolean> {
  return (await acquire(redis, [key], [token, ttlMs])) === 1;
}

/**
 * Acquires a lock and renews it until it is released or lost; returns null if another token holds it. The lock expires
 * `ttlMs` after its last renewal. Throws `unavailable`.
 */
export async function holdLock(
  redis: RedisClient,
  key: string,
  token: string,
  ttlMs: number,
): Promise<HeldLock | null> {
  const askedAt = performance.now();
  if (!(await acquireLock(redis, key, token, ttlMs))) return null;
  return new HeldLock({
    ttlMs,
    askedAt,
    // While Redis is away a renewal may wait for it: the lock has expired there long before.
    renew: async isLate => (await acquireLock(redis, key, token, ttlMs)) && !isLate(),
    release: () => release(redis, [key], [token]),
  });
}
