import { script } from "./lua.ts";
import type { RedisClient } from "./redis.ts";

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

/** A lock that is renewed for as long as it is held. */
export class HeldLock {
  readonly #redis: RedisClient;
  readonly #key: string;
  readonly #token: string;
  readonly #ttlMs: number;
  readonly #lost = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #renewedAt: number;

  /** Use `holdLock`. `askedAt` is the moment before the lock was acquired, by `performance.now()`. */
  constructor(redis: RedisClient, key: string, token: string, ttlMs: number, askedAt: number) {
    this.#redis = redis;
    this.#key = key;
    this.#token = token;
    this.#ttlMs = ttlMs;
    this.#renewedAt = askedAt;
    this.#timer = setInterval(() => void this.#renew(), Math.floor(ttlMs / 3));
  }

  /** Aborted when the lock is lost: another process took it, or it could not be renewed in time. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Gives the lock to the next process that asks. Never throws: unreleased, it expires. */
  async release(): Promise<void> {
    clearInterval(this.#timer);
    this.#lost.abort();
    await release(this.#redis, [this.#key], [this.#token]).catch(() => undefined);
  }

  async #renew(): Promise<void> {
    const askedAt = performance.now();
    // While Redis is away a renewal may wait for it: the lock has expired there long before.
    if (askedAt - this.#renewedAt > this.#ttlMs) return this.#lose();
    try {
      const isHeld = await acquireLock(this.#redis, this.#key, this.#token, this.#ttlMs);
      if (!isHeld || performance.now() - this.#renewedAt > this.#ttlMs) return this.#lose();
      this.#renewedAt = askedAt;
    } catch {
      // The next renewal may succeed; if none does in time, the lock is lost.
    }
  }

  #lose(): void {
    clearInterval(this.#timer);
    this.#lost.abort();
  }
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
  return new HeldLock(redis, key, token, ttlMs, askedAt);
}
