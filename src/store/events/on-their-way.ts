import { divide } from "../../lib/divide.ts";
import { SLOTS_PER_MS } from "../../lib/ids.ts";
import type { RedisClient } from "../connections/redis.ts";
import type { RedisKeys } from "../keys.ts";
import { script } from "../lua.ts";

interface Deps {
  redis: RedisClient;
  keys: RedisKeys;
}

/** An emission whose event id is about to be given, or was given before. */
export interface EmissionOnItsWay {
  emitter_id: string;
  emit_id: string;
  score?: number | undefined;
}

/** The longest wait for an emission: its process may be gone, and its run may have been given up. Milliseconds. */
export const ON_THEIR_WAY_MS = 60_000;
/** Emissions noted in one command. */
const NOTED_AT_ONCE = 500;

const note = script<number>("note-on-their-way");

const nameOf = ({ emitter_id, emit_id }: EmissionOnItsWay) => `${emitter_id} ${emit_id}`;
const timeOf = ({ score }: EmissionOnItsWay) => (score === undefined ? "" : Math.floor(score / SLOTS_PER_MS));

/**
 * Notes that emissions of an account have or get event ids and are not stored yet. What waits for all events up to a time
 * so knows of them (src/deliveries/worker/ordered.ts). Throws `unavailable`.
 */
export async function noteOnTheirWay(
  { redis, keys }: Deps,
  accountId: string,
  emissions: EmissionOnItsWay[],
): Promise<void> {
  for (const part of divide(emissions, NOTED_AT_ONCE, () => 1)) {
    const named = part.flatMap(one => [nameOf(one), timeOf(one)]);
    await note(redis, [keys.emissionsOnTheirWay(accountId)], [ON_THEIR_WAY_MS, ...named]);
  }
}

/** Notes that emissions are stored, or never will be. Throws `unavailable`. */
export async function noteArrived(
  { redis, keys }: Deps,
  accountId: string,
  emissions: EmissionOnItsWay[],
): Promise<void> {
  for (const part of divide(emissions, NOTED_AT_ONCE, () => 1)) {
    await redis.zrem(keys.emissionsOnTheirWay(accountId), ...part.map(nameOf));
  }
}

/**
 * Returns a time, in Unix milliseconds, before which no emission of these accounts is on its way; Infinity if none is.
 * Those that are on their way for a minute are not waited for.
 */
export async function firstOnItsWay(
  { redis, keys }: Deps,
  accountIds: string[],
  nowMs: number,
): Promise<number> {
  const since = nowMs - ON_THEIR_WAY_MS;
  const firsts = await Promise.all(
    accountIds.map(id =>
      redis.zrangebyscore(keys.emissionsOnTheirWay(id), since, "+inf", "WITHSCORES", "LIMIT", 0, 1),
    ),
  );
  return Math.min(
    Number.POSITIVE_INFINITY,
    ...firsts.flatMap(([, ms]) => (ms === undefined ? [] : [Number(ms)])),
  );
}
