import type { Metrics } from "../../metrics/metrics.ts";
import type { Activity } from "../activity.ts";
import type { RedisClient } from "../connections/redis.ts";
import type { RedisKeys } from "../keys.ts";
import { script } from "../lua.ts";
import { type ArchiveDeps, findArchive, isHere } from "./event-archive.ts";

/** Why an event was dropped on purpose (docs/design.md#guarantee-8). */
export type DropReason =
  | "deduped"
  | "over-quota"
  | "truncated"
  | "webhook-disabled"
  | "cancelled"
  | "payload-gone"
  | "no-listener"
  | "filtered"
  | "dropped-by-function"
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

const readCounts = script<[place: string, ...pairs: string[]]>("read-drops");

/**
 * Returns how many events of an emitter were dropped, by reason. To those of one that fell silent Redis has only what came
 * since it was archived. Throws `unavailable`.
 */
export async function readDrops(platform: ArchiveDeps, emitterId: string): Promise<Record<string, number>> {
  const { redis, keys } = platform;
  const [place, ...pairs] = await readCounts(redis, [keys.eventsPlace(emitterId), keys.drops(emitterId)], []);
  const archived = isHere(place) ? null : await findArchive(platform, emitterId);
  const counts: Record<string, number> = Object.fromEntries(archived?.drops ?? []);
  for (let i = 0; i < pairs.length; i += 2) {
    const reason = pairs[i] ?? "";
    counts[reason] = (counts[reason] ?? 0) + Number(pairs[i + 1]);
  }
  return counts;
}
