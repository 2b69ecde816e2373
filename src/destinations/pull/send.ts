import { LRUCache } from "lru-cache";
import { createBatcher } from "../../lib/batcher.ts";
import { openPer } from "../../lib/lazy.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import type { Calling } from "../../platform.ts";
import type { Message, SendToDestination } from "../message.ts";
import { outcomeOf, Rejected } from "../outcome.ts";
import { type Kept, keep } from "./keep.ts";

/** Events that one transaction keeps. */
const MOST_AT_ONCE = 200;
/** Destinations of which a process remembers what keeps their events. */
const REMEMBERED = 1000;

/**
 * Keeps an event for a program to pull. Its response is the event's position. The attempt fails while as many wait as may: then it is
 * repeated by the retry schedule as for any destination that does not accept events, with the same alerts, and nothing that
 * is kept gives way.
 */
export const sendToPull: SendToDestination = (platform, { _id }, message, signal) =>
  outcomeOf(signal, async () => {
    const kept = await keeperOf(platform)(_id)(message);
    if (kept === "full") {
      throw new Rejected(`${LIMITS.pulledEvents.value} events wait to be pulled, and no more are kept`);
    }
    if (kept === "deleted") throw new Rejected("it was deleted");
    return { status: 200, response: `position ${kept}` };
  });

type Keep = (message: Message) => Promise<Kept>;

/** Messages that are sent at the same time share a transaction; those of one destination would only conflict in two. */
const keeperOf = openPer((platform: Calling) => {
  const keepers = new LRUCache<string, Keep>({ max: REMEMBERED });
  return (listenerId: string): Keep => {
    let keeper = keepers.get(listenerId);
    if (!keeper) {
      keeper = createBatcher<Message, Kept>(batch => keep(platform, listenerId, batch), {
        maxWeight: MOST_AT_ONCE,
      });
      keepers.set(listenerId, keeper);
    }
    return keeper;
  };
});
