import { LRUCache } from "lru-cache";
import type { RedisKeys } from "./keys.ts";
import type { RedisClient } from "./redis.ts";

/** Fewer bytes in one outbox are not counted: most events are small, and counting would cost as much as they do. */
export const COUNTED_FROM_BYTES = 8 * 1024;
/** A count that neither rises nor falls for so long is of a process that died; the account then starts again at 0. */
const FORGOTTEN_MS = 10 * 60_000;

type Deps = { redis: RedisClient; keys: RedisKeys };

/**
 * Adds bytes to what waits on the queue of emissions for an account; a negative number takes them off. Returns what waits
 * then.
 */
export async function countEmissionBytes(
  { redis, keys }: Deps,
  ownerId: string,
  bytes: number,
): Promise<number> {
  const key = keys.emissionBytes(ownerId);
  const results = await redis.multi().incrby(key, Math.round(bytes)).pexpire(key, FORGOTTEN_MS).exec();
  return Number(results?.[0]?.[1] ?? 0);
}

/** Returns the bytes of an account that wait on the queue of emissions. */
export async function readEmissionBytes({ redis, keys }: Deps, ownerId: string): Promise<number> {
  return Math.max(0, Number((await redis.get(keys.emissionBytes(ownerId))) ?? 0));
}

/** How long a count is trusted before an account is rejected for it. Milliseconds. */
const FRESH_MS = 1000;
const MAX_ACCOUNTS = 10_000;

interface Account {
  /** Bytes of jobs that no job's count covers yet. */
  uncounted: number;
  /** What waits, as far as this process knows. */
  waiting: number;
  readAt: number;
}

/** The bytes of a job's emissions, and of those before it that were not counted, which its handler takes off again. */
export type CountedBytes = [ownerId: string, bytes: number];

/**
 * Counts what one process enqueues for accounts, in steps of `COUNTED_FROM_BYTES`: each step is counted with the job that
 * completes it, which is handled after the jobs that it also covers.
 */
export class EmissionBytes {
  readonly #deps: Deps;
  readonly #accounts = new LRUCache<string, Account>({ max: MAX_ACCOUNTS });

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Returns true if `most` bytes or more wait. Asks Redis only about an account that seemed to be over its bound. */
  async isOver(ownerId: string, most: number): Promise<boolean> {
    const account = this.#account(ownerId);
    if (account.waiting < most) return false;
    if (performance.now() - account.readAt > FRESH_MS) {
      this.#note(account, await readEmissionBytes(this.#deps, ownerId));
    }
    return account.waiting >= most;
  }

  /** Adds the bytes of a job that is about to be enqueued; returns what its payload says, if a step is complete. */
  add(ownerId: string, bytes: number): CountedBytes | undefined {
    const account = this.#account(ownerId);
    account.uncounted += bytes;
    if (account.uncounted < COUNTED_FROM_BYTES) return undefined;
    const counted = Math.ceil(account.uncounted);
    account.uncounted = 0;
    this.#count(account, ownerId, counted);
    return [ownerId, counted];
  }

  /** Takes off what was added for a job that could not be enqueued. */
  remove([ownerId, bytes]: CountedBytes): void {
    this.#count(this.#account(ownerId), ownerId, -bytes);
  }

  #account(ownerId: string): Account {
    const known = this.#accounts.get(ownerId) ?? {
      uncounted: 0,
      waiting: 0,
      readAt: Number.NEGATIVE_INFINITY,
    };
    this.#accounts.set(ownerId, known);
    return known;
  }

  /** Not awaited: it goes to Redis beside the job. If it fails, the count is corrected once the account is silent. */
  #count(account: Account, ownerId: string, bytes: number): void {
    countEmissionBytes(this.#deps, ownerId, bytes).then(
      waiting => this.#note(account, waiting),
      () => undefined,
    );
  }

  #note(account: Account, waiting: number): void {
    account.waiting = waiting;
    account.readAt = performance.now();
  }
}
