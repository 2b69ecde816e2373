import type { Metrics } from "../metrics/metrics.ts";
import type { Activity } from "./activity.ts";
import type { RedisKeys } from "./keys.ts";
import type { RedisClient } from "./redis.ts";

/** Why an event was dropped on purpose (docs/design.md#guarantee-8). */
export type DropReason =
  | "deduped"
  | "over-quota"
  | "truncated"
  | "webhook-disabled"
  | "payload-gone"
  | "no-listener"
  | "filtered"
  | "loop"
  | "deploy-muted"
  | "source-inactive"
  | "listener-absent"
  | "unsubscribed"
  | "emitter-deleted"
  | "timer-overlap"
  | "log-limit"
  | "queue-full"
  | "saturated"
  | "invalid";

/**
 * Counts events of an emitter that were dropped on purpose, where its owner and the metrics see them. Of an emitter that is
 * deleted only the metrics count: nothing would ever delete its counts again.
 */
export async function countDrop(
  platform: { redis: RedisClient; keys: RedisKeys; metrics: Metrics; activity: Activity },
  emitterId: string,
  reason: DropReason,
  by = 1,
): Promise<void> {
  if (by === 0) return;
  platform.activity.countDropped(emitterId, reason, by);
  platform.metrics.count("events_dropped_total", { reason }, by);
  const { redis, keys } = platform;
  const counted = await redis.hincrby(keys.drops(emitterId), reason, by);
  // Only the first count of a reason can have made the key again.
  if (counted === by && (await redis.exists(keys.deleted(emitterId)))) await redis.del(keys.drops(emitterId));
}

/** Returns how many events of an emitter were dropped, by reason. */
export async function readDrops(
  platform: { redis: RedisClient; keys: RedisKeys },
  emitterId: string,
): Promise<Record<string, number>> {
  const all = await platform.redis.hgetall(platform.keys.drops(emitterId));
  return Object.fromEntries(Object.entries(all).map(([reason, count]) => [reason, Number(count)]));
}
