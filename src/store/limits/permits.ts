import type { RedisClient } from "../connections/redis.ts";
import type { RedisKeys } from "../keys.ts";
import { script } from "../lua.ts";

const acquire = script<[acquired: number, isSecond: number]>("acquire-permits");
const renew = script<number>("renew-permits");
const release = script<number>("release-permits");
const beginDrain = script<"begun" | "permit" | "drain">("begin-drain");
const acquireTokens = script<[acquired: number, nextInMs: number]>("token-bucket", "acquire-tokens");

/**
 * How long a drain that was turned away is remembered, at least. The sweep finds what is overdue if the process was
 * killed that should have drained the webhook again. Milliseconds.
 */
const BACKLOG_KEPT_MS = 60_000;

export interface PermitLimits {
  /** Permits in all. */
  permits: number;
  /** Milliseconds until a permit that is neither released nor renewed expires. */
  ttlMs: number;
}

/**
 * A semaphore for each webhook: how many deliveries may be in flight and how many may start in a second, over all worker
 * processes, so that a slow endpoint can't take every slot (docs/design.md#guarantees, 5). What gets no permit is a pending
 * delivery in MongoDB, and a drain of the webhook sends it. One drain of a webhook is under way at a time. Those that
 * are due and wait are the webhook's backlog, which goes before first attempts.
 */
export interface Permits {
  /**
   * Acquires up to one permit for each name, without tokens. `afterBacklog`: only half of the permits count while a backlog
   * waits. Returns how many were acquired, and whether a backlog took precedence.
   */
  acquire(
    webhookId: string,
    names: string[],
    limits: PermitLimits & { afterBacklog: boolean },
  ): Promise<{ acquired: number; isSecond: boolean }>;
  /**
   * Begins a drain with one permit. `permit`: there is none, and the release of one drains the webhook. `drain`: another
   * drain is under way, and one more will follow it. A drain that was begun and not ended, in a job that is started again,
   * begins again.
   */
  beginDrain(
    webhookId: string,
    drain: { name: string; permit: string },
    limits: PermitLimits,
  ): Promise<"begun" | "permit" | "drain">;
  /** Extends permits and drains by name; expired ones stay lost. */
  renew(webhookId: string, names: string[], ttlMs: number): Promise<void>;
  /** Releases permits; returns true if the webhook must be drained, because a backlog waited for one. */
  release(webhookId: string, names: string[], permits: number): Promise<boolean>;
  /**
   * Ends a drain and releases its permits. `leavesBacklog`: some that are due could not be sent. Returns true if the webhook must
   * be drained again, because another drain was turned away since.
   */
  endDrain(
    webhookId: string,
    drain: { name: string; permits: string[]; leavesBacklog: boolean },
    permits: number,
  ): Promise<boolean>;
  /** Acquires up to `wanted` tokens for permits already held; with `afterBacklog`, half of them is left to a backlog. */
  acquireTokens(
    webhookId: string,
    wanted: number,
    perSecond: number,
    afterBacklog: boolean,
  ): Promise<{ acquired: number; nextInMs: number }>;
  /** Returns which of the webhooks have a drain under way or a backlog that waits for a permit. */
  findDrained(webhookIds: string[]): Promise<Set<string>>;
  /** Deletes what earlier releases kept of a webhook's deliveries that waited. */
  deleteWaitlist(webhookId: string): Promise<void>;
  /** Deletes all that is kept of a deleted webhook. */
  delete(webhookId: string): Promise<void>;
}

/** Opens the permits of webhooks. Each of them throws `unavailable` while Redis is away. */
export function openPermits(redis: RedisClient, keys: RedisKeys): Permits {
  const permitsAndDrains = (webhookId: string) => [
    keys.webhookPermits(webhookId),
    keys.webhookDrains(webhookId),
  ];
  const waitlists = (webhookId: string) => [keys.webhookWaitlist(webhookId), keys.webhookOverflow(webhookId)];
  return {
    async acquire(webhookId, names, { permits, ttlMs, afterBacklog }) {
      const args = [permits, ttlMs, afterBacklog ? 1 : 0, ...names];
      const [acquired, isSecond] = await acquire(redis, permitsAndDrains(webhookId), args);
      return { acquired, isSecond: isSecond === 1 };
    },
    async beginDrain(webhookId, { name, permit }, { permits, ttlMs }) {
      const args = [permits, ttlMs, name, permit, Math.max(ttlMs, BACKLOG_KEPT_MS)];
      return await beginDrain(redis, permitsAndDrains(webhookId), args);
    },
    async renew(webhookId, names, ttlMs) {
      await renew(redis, permitsAndDrains(webhookId), [ttlMs, ...names]);
    },
    async release(webhookId, names, permits) {
      const args = [permits, "", 0, BACKLOG_KEPT_MS, ...names];
      return (await release(redis, permitsAndDrains(webhookId), args)) === 1;
    },
    async endDrain(webhookId, { name, permits: names, leavesBacklog }, permits) {
      const args = [permits, name, leavesBacklog ? 1 : 0, BACKLOG_KEPT_MS, ...names];
      return (await release(redis, permitsAndDrains(webhookId), args)) === 1;
    },
    async acquireTokens(webhookId, wanted, perSecond, afterBacklog) {
      const bucketAndDrains = [keys.webhookTokens(webhookId), keys.webhookDrains(webhookId)];
      const args = [wanted, perSecond, afterBacklog ? 1 : 0];
      const [acquired, nextInMs] = await acquireTokens(redis, bucketAndDrains, args);
      return { acquired, nextInMs };
    },
    async findDrained(webhookIds) {
      const now = Date.now();
      const counts = await Promise.all(
        webhookIds.map(id => redis.zcount(keys.webhookDrains(id), now, "+inf")),
      );
      return new Set(webhookIds.filter((_, i) => (counts[i] ?? 0) > 0));
    },
    async deleteWaitlist(webhookId) {
      await redis.unlink(...waitlists(webhookId));
    },
    async delete(webhookId) {
      const { webhookTokens } = keys;
      await redis.unlink(...permitsAndDrains(webhookId), webhookTokens(webhookId), ...waitlists(webhookId));
    },
  };
}
