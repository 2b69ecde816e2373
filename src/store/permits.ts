import type { RedisKeys } from "./keys.ts";
import { script } from "./lua.ts";
import type { RedisClient } from "./redis.ts";

const enter = script<[entered: number, tokenInMs: number]>("bucket", "enter-place");
const take = script<number>("take-places");
const keep = script<number>("keep-places");
const leave = script<[tokenInMs: number, ...called: string[]]>("bucket", "leave-place");
const takeTokens = script<[taken: number, nextInMs: number]>("bucket", "take-tokens");

export interface PlaceLimits {
  /** How many there are. */
  places: number;
  /** Tokens, one for each attempt; null for as many as one likes. */
  perSecond: number | null;
  /** How long a place is kept for one that does not give it back. */
  lifeMs: number;
}

/**
 * How many deliveries may be in flight to one webhook and how many may begin in a second, over all worker processes, so
 * that a slow endpoint can't take every slot (design.md, guarantee 5). Those that find no place, or no token, wait in
 * line instead of holding a slot. `tokenInMs` is above 0 where it is a token that those in line lack: somebody must
 * call them in then, since no one who leaves will.
 */
export interface Places {
  /** Lets the delivery go, or wait: then `leave` will name its job. */
  enter(
    webhookId: string,
    name: string,
    job: string,
    limits: PlaceLimits,
  ): Promise<{ entered: boolean; tokenInMs: number }>;
  /** Takes up to as many places as there are names, and answers how many; no tokens, and nobody is put in line. */
  take(webhookId: string, names: string[], places: number, lifeMs: number): Promise<number>;
  /** Makes places live longer; those that have run out stay lost. */
  keep(webhookId: string, names: string[], lifeMs: number): Promise<void>;
  /** Gives places back; answers the jobs of those that have got one, to go next. */
  leave(
    webhookId: string,
    names: string[],
    limits: PlaceLimits,
  ): Promise<{ called: string[]; tokenInMs: number }>;
  /** Takes up to so many tokens for places that one has; with `afterLine` those in line have theirs before. */
  takeTokens(
    webhookId: string,
    wanted: number,
    perSecond: number,
    afterLine: boolean,
  ): Promise<{ taken: number; nextInMs: number }>;
}

export function openPlaces(redis: RedisClient, keys: RedisKeys): Places {
  const all = (webhookId: string) => [
    keys.webhookInFlight(webhookId),
    keys.webhookWaiting(webhookId),
    keys.webhookTokens(webhookId),
  ];
  return {
    async enter(webhookId, name, job, { places, perSecond, lifeMs }) {
      const args = [job, name, places, lifeMs, perSecond ?? 0];
      const [entered, tokenInMs] = await enter(redis, all(webhookId), args);
      return { entered: entered === 1, tokenInMs };
    },
    take: (webhookId, names, places, lifeMs) =>
      take(redis, [keys.webhookInFlight(webhookId)], [places, lifeMs, ...names]),
    async keep(webhookId, names, lifeMs) {
      await keep(redis, [keys.webhookInFlight(webhookId)], [lifeMs, ...names]);
    },
    async leave(webhookId, names, { places, perSecond, lifeMs }) {
      const args = [places, lifeMs, perSecond ?? 0, ...names];
      const [tokenInMs, ...called] = await leave(redis, all(webhookId), args);
      return { called, tokenInMs };
    },
    async takeTokens(webhookId, wanted, perSecond, afterLine) {
      const bucketAndLine = [keys.webhookTokens(webhookId), keys.webhookWaiting(webhookId)];
      const args = [wanted, perSecond, afterLine ? 1 : 0];
      const [taken, nextInMs] = await takeTokens(redis, bucketAndLine, args);
      return { taken, nextInMs };
    },
  };
}
