import type { RedisKeys } from "./keys.ts";
import { script } from "./lua.ts";
import type { RedisClient } from "./redis.ts";

const enter = script<number>("enter-place");
const take = script<number>("take-places");
const leave = script<string[]>("leave-place");

/**
 * How many deliveries may be in flight to one webhook, over all worker processes, so that a slow endpoint can't take
 * every slot (design.md, guarantee 5). Those that find no place wait in line instead of holding a slot.
 */
export interface Places {
  /** True when the delivery may go; false when it waits and `leave` will name it. */
  enter(webhookId: string, deliveryId: string, job: string, places: number, lifeMs: number): Promise<boolean>;
  /** Takes up to as many places as there are names, and answers how many; nobody is put in line. */
  take(webhookId: string, names: string[], places: number, lifeMs: number): Promise<number>;
  /** Gives places back; answers the jobs of those that may go next. */
  leave(webhookId: string, names: string[], places: number): Promise<string[]>;
}

export function openPlaces(redis: RedisClient, keys: RedisKeys): Places {
  const both = (webhookId: string) => [keys.webhookInFlight(webhookId), keys.webhookWaiting(webhookId)];
  return {
    async enter(webhookId, deliveryId, job, places, lifeMs) {
      return (await enter(redis, both(webhookId), [job, deliveryId, places, lifeMs])) === 1;
    },
    take: (webhookId, names, places, lifeMs) =>
      take(redis, [keys.webhookInFlight(webhookId)], [places, lifeMs, ...names]),
    leave: (webhookId, names, places) => leave(redis, both(webhookId), [places, ...names]),
  };
}
