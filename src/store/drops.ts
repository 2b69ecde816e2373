import type { Counters } from "./counters.ts";
import type { RedisKeys } from "./keys.ts";
import type { RedisClient } from "./redis.ts";

/** Why an event was dropped on purpose (design.md, guarantee 8). */
export type DropReason =
  | "deduped"
  | "over-quota"
  | "truncated"
  | "webhook-disabled"
  | "no-listener"
  | "filtered"
  | "loop"
  | "deploy-muted"
  | "source-inactive"
  | "listener-absent"
  | "timer-overlap"
  | "log-limit";

/** Counts events of an emitter that were dropped on purpose, where its owner and the metrics see it. */
export async function countDrop(
  platform: { redis: RedisClient; keys: RedisKeys; counters: Counters },
  emitterId: string,
  reason: DropReason,
  by = 1,
): Promise<void> {
  if (by === 0) return;
  platform.counters.add("events_dropped_total", { reason }, by);
  await platform.redis.hincrby(platform.keys.drops(emitterId), reason, by);
}

/** What was dropped of an emitter's events, reason to count. */
export async function readDrops(
  platform: { redis: RedisClient; keys: RedisKeys },
  emitterId: string,
): Promise<Record<string, number>> {
  const all = await platform.redis.hgetall(platform.keys.drops(emitterId));
  return Object.fromEntries(Object.entries(all).map(([reason, count]) => [reason, Number(count)]));
}
