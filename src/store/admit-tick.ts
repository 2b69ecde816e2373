import type { RedisKeys } from "./keys.ts";
import { script } from "./lua.ts";
import type { RedisClient } from "./redis.ts";

const admit = script<number>("admit-tick");

/** A tick whose run did not start within this time blocks later ticks no longer. */
const WAITING_SECONDS = 3600;

/**
 * Returns true if a timer's tick may become a run. Returns false while an earlier tick waits for its run, and for a moment
 * before the last tick that was admitted: ticks that piled up in an outage become one run (docs/design.md#guarantees, 7).
 * `dueAtMs` and `nowMs` are Unix milliseconds.
 */
export async function admitTick(
  { redis, keys }: { redis: RedisClient; keys: RedisKeys },
  sourceId: string,
  tick: { runId: string; dueAtMs: number; nowMs: number },
): Promise<boolean> {
  const result = await admit(
    redis,
    [keys.timerWaiting(sourceId), keys.timerAdmitted(sourceId)],
    [tick.runId, tick.dueAtMs, tick.nowMs, WAITING_SECONDS],
  );
  return result === 1;
}
