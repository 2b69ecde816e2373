import { HeldLock } from "../lib/held-lock.ts";
import type { RedisKeys } from "./keys.ts";
import { script } from "./lua.ts";
import type { RedisClient } from "./redis.ts";

type Deps = { redis: RedisClient; keys: RedisKeys; processId: string };

const claim = script<[more: number, ...units: string[]]>("claim-sweep-units");
const set = script<number>("set-sweep-unit");

interface ClaimOptions {
  /** Most units to claim. */
  most: number;
  /** A claim lasts so long after it was renewed. Milliseconds. */
  ttlMs: number;
  /** A unit that was done is due again after this at most. Milliseconds. */
  everyMs: number;
  /** Called when a claim ends: the milliseconds after which the unit is due again, none if that is past. */
  dueInMs: () => number;
}

export interface Claimed {
  /** The units that are claimed now, and what holds them for as long as this process lives and does not release them. */
  locks: Map<string, HeldLock>;
  /** How many others are due. */
  more: number;
}

/**
 * Claims some of these units of the reconciler's work, no two processes the same one at a time: those that are due for the
 * longest, and those that this process has claimed and is not at work on, which it must not name otherwise. One command,
 * whether there is anything to claim or not. The time is Redis' own. Throws `unavailable`.
 */
export async function claimUnits(
  { redis, keys, processId }: Deps,
  units: string[],
  { most, ttlMs, everyMs, dueInMs }: ClaimOptions,
): Promise<Claimed> {
  if (units.length === 0) return { locks: new Map(), more: 0 };
  const askedAt = performance.now();
  const names = [keys.sweepUnits()];
  const [more, ...claimed] = await claim(redis, names, [
    processId,
    ttlMs,
    Math.max(ttlMs, everyMs),
    most,
    ...units,
  ]);
  const hold = (unit: string) =>
    new HeldLock({
      ttlMs,
      askedAt,
      renew: async isLate =>
        (await set(redis, names, [unit, processId, ttlMs, processId])) === 1 && !isLate(),
      release: () => set(redis, names, [unit, processId, Math.max(0, Math.round(dueInMs())), ""]),
    });
  return { locks: new Map(claimed.map(unit => [unit, hold(unit)])), more };
}
