import type { RedisKeys } from "./keys.ts";
import { script } from "./lua.ts";
import type { RedisClient } from "./redis.ts";

const pass = script<number>("pass-tick");

/** A tick that waited this long for its run is not waited for any more. */
const WAITING_SECONDS = 3600;

/**
 * True when a timer's tick may become a run. False while an earlier one waits in the line, and for a moment that lies
 * before the last tick that passed: ticks that piled up in an outage become one run (design.md, guarantee 7).
 * `dueAtMs` and `nowMs` are Unix milliseconds.
 */
export async function passTick(
  { redis, keys }: { redis: RedisClient; keys: RedisKeys },
  sourceId: string,
  tick: { runId: string; dueAtMs: number; nowMs: number },
): Promise<boolean> {
  const answer = await pass(
    redis,
    [keys.timerWaiting(sourceId), keys.timerPassed(sourceId)],
    [tick.runId, tick.dueAtMs, tick.nowMs, WAITING_SECONDS],
  );
  return answer === 1;
}
