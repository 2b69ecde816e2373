import { LIMITS } from "../limits/catalogue.ts";
import type { RedisKeys } from "./keys.ts";
import { script } from "./lua.ts";
import type { MemoryShare } from "./memory-share.ts";
import type { RedisClient } from "./redis.ts";

const acquireOrWait = script<[result: number, inMs: number, isNext?: number]>(
  "token-bucket",
  "acquire-or-wait",
);
const acquire = script<[acquired: number, waiting: number]>("acquire-permits");
const renew = script<number>("renew-permits");
const release = script<[tokenInMs: number, mustRefill: number, ...granted: string[]]>(
  "token-bucket",
  "release-permits",
);
const refill = script<[added: number, isFull: number]>("refill-waitlist");
const acquireTokens = script<[acquired: number, nextInMs: number]>("token-bucket", "acquire-tokens");

/** However full Redis is, a waitlist may hold this many, so that a webhook is never without work. */
const MIN_WAITING = 200;
/** A refill that is not done so long after it was asked for is asked for again. Milliseconds. */
const REFILL_AGAIN_MS = 250;
/** As long as deliveries are kept. Milliseconds. */
const OVERFLOW_KEPT_MS = 30 * 86_400_000;

export interface PermitLimits {
  /** Permits in all. */
  permits: number;
  /** Tokens a second, one for each attempt; null for no limit. */
  perSecond: number | null;
  /** Milliseconds until a permit that is neither released nor renewed expires. */
  ttlMs: number;
}

/** A delivery that is due, and the names of the permits that one of its jobs may hold. */
export interface PermitRequest {
  /** Of the job that is to go on. */
  name: string;
  /** JSON of the job that goes on instead if it has to wait, and the name of its permit. */
  waiting: { job: string; name: string };
  /** True if the caller is not that first job, and it may hold the permit. */
  mayBeHeld?: boolean;
}

/** What became of a request. */
export interface Acquired {
  acquired: boolean;
  /** The permit that a job of the delivery holds already; null if none does. */
  held: HeldPermit | null;
  /** Milliseconds until the waitlist must be drained; 0 if it need not be. */
  tokenInMs: number;
}

/**
 * A semaphore for each webhook: how many deliveries may be in flight and how many may start in a second, over all worker
 * processes, so that a slow endpoint can't take every slot (docs/design.md#guarantees, 5). A delivery that gets no permit,
 * or no token, joins the waitlist instead of holding a slot. `tokenInMs` is above 0 when the waitlist lacks only a token,
 * or may lack nothing: then the caller must schedule a drain, since no release will follow.
 *
 * A waitlist holds a bounded number of deliveries, fewer as Redis fills up. What does not fit waits in MongoDB only: that is
 * the webhook's overflow, from which the caller refills the waitlist when `release` says so.
 */
export interface Permits {
  /**
   * Acquires a permit and a token, or adds the delivery to the waitlist; then a later `release` returns its job as granted.
   * If the waitlist is full, it is counted as overflow: the delivery must be stored as pending. Does neither if it waits
   * already, or was granted a permit since, or, with `mayBeHeld`, if its first job holds one: no delivery has two attempts
   * under way, however many callers find it due.
   */
  acquireOrWait(webhookId: string, request: PermitRequest, limits: PermitLimits): Promise<Acquired>;
  /** Acquires up to one permit for each name, without tokens or the waitlist; returns how many, and how long the waitlist is. */
  acquire(
    webhookId: string,
    names: string[],
    permits: number,
    ttlMs: number,
  ): Promise<{ acquired: number; waiting: number }>;
  /** Extends permits; expired ones stay lost. */
  renew(webhookId: string, names: string[], ttlMs: number): Promise<void>;
  /**
   * Releases permits and returns the jobs from the waitlist that were granted one, to be enqueued next. `mustRefill`: the
   * waitlist is low and there is overflow; true for one caller until it is done, or seems to be lost.
   */
  release(
    webhookId: string,
    names: string[],
    limits: PermitLimits,
  ): Promise<{ granted: string[]; tokenInMs: number; mustRefill: boolean }>;
  /** Acquires up to `wanted` tokens for permits already held; with `afterWaitlist`, the waitlist goes first. */
  acquireTokens(
    webhookId: string,
    wanted: number,
    perSecond: number,
    afterWaitlist: boolean,
  ): Promise<{ acquired: number; nextInMs: number }>;
  /** Returns the state of a webhook's overflow, to be read before what is passed to `refill`; null if there is none. */
  overflow(webhookId: string): Promise<string | null>;
  /**
   * Adds deliveries to the waitlist as far as they fit, but those that are on it or hold a permit. Ends
   * the overflow if `isAll` and it is still as it was read; otherwise what is left is overflow.
   */
  refill(
    webhookId: string,
    candidates: RefillCandidate[],
    state: { overflow: string | null; isAll: boolean },
  ): Promise<{ added: number; isFull: boolean }>;
  /** Deletes all that is kept of a deleted webhook. */
  delete(webhookId: string): Promise<void>;
}

export interface HeldPermit {
  /** Milliseconds since the permit was acquired, granted or last renewed. */
  forMs: number;
  /** True if it is the permit of the job that the waitlist leads to. */
  isNext: boolean;
}

export interface RefillCandidate {
  /** As `acquireOrWait` adds it. */
  job: string;
  /** The permits that the delivery may hold, under this generation and the one before. */
  names: [string, string];
}

/** `memory` says how full Redis is; `mostWaiting` is how many deliveries a waitlist holds (docs/limits.md). */
export function openPermits(
  redis: RedisClient,
  keys: RedisKeys,
  { memory, mostWaiting = LIMITS.waitlist.value }: { memory: MemoryShare; mostWaiting?: number },
): Permits {
  const bound = () =>
    Math.max(Math.min(mostWaiting, MIN_WAITING), Math.floor(mostWaiting * memory.allowed()));
  const allKeys = (webhookId: string) => [
    keys.webhookPermits(webhookId),
    keys.webhookWaitlist(webhookId),
    keys.webhookTokens(webhookId),
    keys.webhookOverflow(webhookId),
  ];
  return {
    async acquireOrWait(webhookId, { name, waiting, mayBeHeld }, { permits, perSecond, ttlMs }) {
      const args = [
        ...[waiting.job, name, permits, ttlMs, perSecond ?? 0, bound(), OVERFLOW_KEPT_MS],
        ...[waiting.name, mayBeHeld ? 1 : 0],
      ];
      const [result, inMs, isNext] = await acquireOrWait(redis, allKeys(webhookId), args);
      if (result === 2) return { acquired: false, held: { forMs: inMs, isNext: isNext === 1 }, tokenInMs: 0 };
      return { acquired: result === 1, held: null, tokenInMs: inMs };
    },
    async acquire(webhookId, names, permits, ttlMs) {
      const used = [keys.webhookPermits(webhookId), keys.webhookWaitlist(webhookId)];
      const [acquired, waiting] = await acquire(redis, used, [permits, ttlMs, ...names]);
      return { acquired, waiting };
    },
    async renew(webhookId, names, ttlMs) {
      await renew(redis, [keys.webhookPermits(webhookId)], [ttlMs, ...names]);
    },
    async release(webhookId, names, { permits, perSecond, ttlMs }) {
      const refillAt = Math.floor(bound() / 4);
      const args = [permits, ttlMs, perSecond ?? 0, refillAt, REFILL_AGAIN_MS, ...names];
      const [tokenInMs, mustRefill, ...granted] = await release(redis, allKeys(webhookId), args);
      return { granted, tokenInMs, mustRefill: mustRefill === 1 };
    },
    async acquireTokens(webhookId, wanted, perSecond, afterWaitlist) {
      const bucketAndWaitlist = [keys.webhookTokens(webhookId), keys.webhookWaitlist(webhookId)];
      const args = [wanted, perSecond, afterWaitlist ? 1 : 0];
      const [acquired, nextInMs] = await acquireTokens(redis, bucketAndWaitlist, args);
      return { acquired, nextInMs };
    },
    overflow: async webhookId => (await redis.hget(keys.webhookOverflow(webhookId), "count")) ?? null,
    async refill(webhookId, candidates, { overflow, isAll }) {
      const [permits, waitlist] = [keys.webhookPermits(webhookId), keys.webhookWaitlist(webhookId)];
      const rows = candidates.flatMap(({ job, names }) => [job, ...names]);
      const args = [bound(), overflow ?? "", isAll ? 1 : 0, OVERFLOW_KEPT_MS, ...rows];
      const [added, isFull] = await refill(redis, [permits, waitlist, keys.webhookOverflow(webhookId)], args);
      return { added, isFull: isFull === 1 };
    },
    async delete(webhookId) {
      await redis.del(...allKeys(webhookId));
    },
  };
}
