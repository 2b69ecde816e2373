import { LRUCache } from "lru-cache";
import type { RedisKeys } from "./keys.ts";
import { script } from "./lua.ts";
import type { RedisClient } from "./redis.ts";

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
 * Emissions have no such parts to compare a sum with, so their bytes are counted with their jobs (src/store/emission-bytes.ts).
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
