import { LRUCache } from "lru-cache";
import { readMemoryShare } from "../connections/probe-redis.ts";
import type { RedisClient } from "../connections/redis.ts";
import type { RedisKeys } from "../keys.ts";
import { script } from "../lua.ts";

const report = script<number>("report-queued");

/**
 * A part of what waits is reported once it has changed by this much, so that a short queue costs nothing; a long queue once
 * it has changed by an eighth (src/store/lua/push-runs.lua).
 */
export const REPORT_STEP_BYTES = 32 * 1024;

/** How long a sum is trusted before an account is rejected for it. Milliseconds. */
const FRESH_MS = 1000;
/** How often the parts of an account over its bound are compared with what really waits. Milliseconds. */
const VERIFY_EVERY_MS = 10_000;
/** An account without a report for this long is forgotten, and with it a part whose process died before it said 0. */
const REMEMBERED_SECONDS = 86_400;
const MAX_ACCOUNTS = 10_000;

/**
 * How many bytes wait in Redis for each account: the sum over its sources, each of which knows its own exactly (docs/limits.md).
 * Emissions have no such parts to compare a sum with, so their bytes are counted with their jobs (`EmissionBytes`).
 */
export interface QueuedBytes {
  /** Notes that `bytes` wait in the queues of a source. Never throws: the next report of the source makes up for it. */
  report(ownerId: string, sourceId: string, bytes: number): Promise<void>;
  /** Returns true if `most` bytes or more wait. Asks Redis only about an account that seemed to be over its bound. */
  isOver(ownerId: string, most: number): Promise<boolean>;
  /** Returns the sum for one account. */
  read(ownerId: string): Promise<number>;
}

interface Known {
  bytes: number;
  readAt: number;
  verifiedAt: number;
}

export function openQueuedBytes(redis: RedisClient, keys: RedisKeys): QueuedBytes {
  const accounts = new LRUCache<string, Known>({ max: MAX_ACCOUNTS });
  const note = (ownerId: string, bytes: number, verifiedAt?: number) => {
    const before = accounts.get(ownerId)?.verifiedAt ?? Number.NEGATIVE_INFINITY;
    accounts.set(ownerId, { bytes, readAt: performance.now(), verifiedAt: verifiedAt ?? before });
  };

  const set = async (ownerId: string, sourceId: string, bytes: number) => {
    const args = [sourceId, bytes, REMEMBERED_SECONDS];
    note(ownerId, await report(redis, [keys.queuedBytes(ownerId)], args));
  };

  const read = async (ownerId: string) => Number((await redis.hget(keys.queuedBytes(ownerId), "total")) ?? 0);

  /** Corrects the parts of processes that died between a change and its report. */
  const verify = async (ownerId: string) => {
    const parts = Object.entries(await redis.hgetall(keys.queuedBytes(ownerId)));
    for (const [sourceId, noted] of parts) {
      if (sourceId === "total") continue;
      const bytes = Number((await redis.hget(keys.queueSize(sourceId), "bytes")) ?? 0);
      if (Math.abs(bytes - Number(noted)) >= REPORT_STEP_BYTES) await set(ownerId, sourceId, bytes);
    }
    note(ownerId, await read(ownerId), performance.now());
  };

  return {
    report: (ownerId, sourceId, bytes) => set(ownerId, sourceId, bytes).catch(() => undefined),
    read,
    async isOver(ownerId, most) {
      const known = accounts.get(ownerId);
      if (!known || known.bytes < most) return false;
      if (performance.now() - known.verifiedAt > VERIFY_EVERY_MS) await verify(ownerId);
      else if (performance.now() - known.readAt > FRESH_MS) note(ownerId, await read(ownerId));
      return (accounts.get(ownerId)?.bytes ?? 0) >= most;
    },
  };
}

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

/** How long a reading is used. Milliseconds. */
const READ_EVERY_MS = 2000;
/** From here on Redis keeps what is left for work that was accepted. */
const FULL_SHARE = 0.95;

/** How full Redis is, as read a moment ago. */
export interface MemoryShare {
  /**
   * Returns the part of its own bound that an account may have waiting: 1 below the high-water mark, falling to 0 where
   * Redis takes no new work.
   */
  allowed(): number;
}

/**
 * Reads Redis' memory while it is asked for, every two seconds at most often. `highWater` is a share of `maxmemory`, or of
 * the machine's memory (docs/limits.md); 1 for no mark.
 */
export function openMemoryShare(redis: RedisClient, highWater: number): MemoryShare {
  let share = 0;
  let readAt = Number.NEGATIVE_INFINITY;
  const read = async () => {
    readAt = performance.now();
    share = await readMemoryShare(redis);
  };
  return {
    allowed() {
      if (highWater >= 1) return 1;
      // Not awaited: a request must not wait for a reading.
      if (performance.now() - readAt > READ_EVERY_MS) void read().catch(() => undefined);
      if (share < highWater) return 1;
      const most = Math.max(FULL_SHARE, highWater);
      return most === highWater ? 0 : Math.max(0, (most - share) / (most - highWater));
    },
  };
}
