import type { RedisKeys } from "./keys.ts";
import { script } from "./lua.ts";
import type { RedisClient } from "./redis.ts";

const acquireOrWait = script<[acquired: number, tokenInMs: number]>("token-bucket", "acquire-or-wait");
const acquire = script<number>("acquire-permits");
const renew = script<number>("renew-permits");
const release = script<[tokenInMs: number, ...granted: string[]]>("token-bucket", "release-permits");
const acquireTokens = script<[acquired: number, nextInMs: number]>("token-bucket", "acquire-tokens");

export interface PermitLimits {
  /** Permits in all. */
  permits: number;
  /** Tokens a second, one for each attempt; null for no limit. */
  perSecond: number | null;
  /** Milliseconds until a permit that is neither released nor renewed expires. */
  ttlMs: number;
}

/**
 * A semaphore for each webhook: how many deliveries may be in flight and how many may start in a second, over all worker
 * processes, so that a slow endpoint can't take every slot (docs/design.md#guarantees, 5). A delivery that gets no permit,
 * or no token, joins the waitlist instead of holding a slot. `tokenInMs` is above 0 when the waitlist lacks only a token:
 * then the caller must schedule a drain, since no release will follow.
 */
export interface Permits {
  /** Acquires a permit and a token, or adds the job to the waitlist; then a later `release` returns it as granted. */
  acquireOrWait(
    webhookId: string,
    name: string,
    job: string,
    limits: PermitLimits,
  ): Promise<{ acquired: boolean; tokenInMs: number }>;
  /** Acquires up to one permit for each name, without tokens or the waitlist; returns how many. */
  acquire(webhookId: string, names: string[], permits: number, ttlMs: number): Promise<number>;
  /** Extends permits; expired ones stay lost. */
  renew(webhookId: string, names: string[], ttlMs: number): Promise<void>;
  /** Releases permits and returns the jobs from the waitlist that were granted one, to be enqueued next. */
  release(
    webhookId: string,
    names: string[],
    limits: PermitLimits,
  ): Promise<{ granted: string[]; tokenInMs: number }>;
  /** Acquires up to `wanted` tokens for permits already held; with `afterWaitlist`, the waitlist goes first. */
  acquireTokens(
    webhookId: string,
    wanted: number,
    perSecond: number,
    afterWaitlist: boolean,
  ): Promise<{ acquired: number; nextInMs: number }>;
}

export function openPermits(redis: RedisClient, keys: RedisKeys): Permits {
  const allKeys = (webhookId: string) => [
    keys.webhookPermits(webhookId),
    keys.webhookWaitlist(webhookId),
    keys.webhookTokens(webhookId),
  ];
  return {
    async acquireOrWait(webhookId, name, job, { permits, perSecond, ttlMs }) {
      const args = [job, name, permits, ttlMs, perSecond ?? 0];
      const [acquired, tokenInMs] = await acquireOrWait(redis, allKeys(webhookId), args);
      return { acquired: acquired === 1, tokenInMs };
    },
    acquire: (webhookId, names, permits, ttlMs) =>
      acquire(redis, [keys.webhookPermits(webhookId)], [permits, ttlMs, ...names]),
    async renew(webhookId, names, ttlMs) {
      await renew(redis, [keys.webhookPermits(webhookId)], [ttlMs, ...names]);
    },
    async release(webhookId, names, { permits, perSecond, ttlMs }) {
      const args = [permits, ttlMs, perSecond ?? 0, ...names];
      const [tokenInMs, ...granted] = await release(redis, allKeys(webhookId), args);
      return { granted, tokenInMs };
    },
    async acquireTokens(webhookId, wanted, perSecond, afterWaitlist) {
      const bucketAndWaitlist = [keys.webhookTokens(webhookId), keys.webhookWaitlist(webhookId)];
      const args = [wanted, perSecond, afterWaitlist ? 1 : 0];
      const [acquired, nextInMs] = await acquireTokens(redis, bucketAndWaitlist, args);
      return { acquired, nextInMs };
    },
  };
}
