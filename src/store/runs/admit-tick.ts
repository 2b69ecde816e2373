import type { RedisClient } from "../connections/redis.ts";
import type { RedisKeys } from "../keys.ts";
import { script } from "../lua.ts";

const admit = script<Admission>("admit-tick");
const clear = script<number>("clear-tick");

/** A tick that is due later than this was made or started by a machine whose clock is wrong. */
const EARLY_MS = 2000;
/** Longer than any tick waits. The lists of the source decide whether it waits; this only removes what was left behind. */
const KEPT_MS = 86_400_000;

/**
 * `admitted`: it may become a run; `repeated`: it was admitted before, so its run may be queued, under way or recorded;
 * `overlap`: an earlier one waits, or a later one has covered its moment; `early`: it is not due yet.
 */
export type Admission = "admitted" | "repeated" | "overlap" | "early";

interface Deps {
  redis: RedisClient;
  keys: RedisKeys;
}

/**
 * Decides by Redis' own clock and the source's own lists whether a timer's tick may become a run
 * (docs/design.md#guarantee-7). `dueAtMs` is in Unix milliseconds, `run` the exact text that is then pushed into the run
 * queue.
 */
export async function admitTick(
  { redis, keys }: Deps,
  sourceId: string,
  { runId, dueAtMs, run }: { runId: string; dueAtMs: number; run: string },
): Promise<Admission> {
  const lists = [keys.runQueue(sourceId), keys.claimedRuns(sourceId)];
  return await admit(
    redis,
    [keys.timerWaiting(sourceId), keys.timerAdmitted(sourceId), ...lists],
    [runId, dueAtMs, run, EARLY_MS, KEPT_MS],
  );
}

/** Lets the next tick be admitted, because the run of this one starts now or has ended. */
export async function clearTick({ redis, keys }: Deps, sourceId: string, runId: string): Promise<void> {
  await clear(redis, [keys.timerWaiting(sourceId)], [runId]);
}
