import { hash } from "node:crypto";
import { LIMITS } from "../../limits/catalogue.ts";
import type { RedisClient } from "../connections/redis.ts";
import type { RedisKeys } from "../keys.ts";

interface Deps {
  redis: RedisClient;
  keys: RedisKeys;
  clock: () => number;
}

const KEPT = LIMITS.arrivedIds.value;
/** Providers repeat for hours; who repeats later finds the source's own `dedupe`. */
const KEPT_MS = 24 * 3_600_000;

/** Senders choose ids, and their length. */
const memberOf = (id: string): string => hash("sha256", id, "base64url").slice(0, 22);

/** Whether a request with this id was accepted for a source within a day, as far as it remembers. Throws `unavailable`. */
export async function hasArrived(
  { redis, keys, clock }: Deps,
  sourceId: string,
  id: string,
): Promise<boolean> {
  const atMs = await redis.zscore(keys.arrivedIds(sourceId), memberOf(id));
  return atMs !== null && clock() - Number(atMs) < KEPT_MS;
}

/**
 * Notes the id of a request that was accepted. Two that arrive at the same moment are both accepted, which their source's `dedupe` may
 * notice: noted before, the id of a request that was lost would keep its repeat away.
 */
export async function noteArrived({ redis, keys, clock }: Deps, sourceId: string, id: string): Promise<void> {
  const key = keys.arrivedIds(sourceId);
  const noting = redis.multi().zadd(key, clock(), memberOf(id));
  // The run is accepted: what fails here must not have it sent again.
  await noting
    .zremrangebyrank(key, 0, -KEPT - 1)
    .pexpire(key, KEPT_MS)
    .exec()
    .catch(() => undefined);
}
