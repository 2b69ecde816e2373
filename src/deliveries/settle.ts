import { StoredEvents } from "../events/model.ts";
import { gather } from "../gather.ts";
import type { Platform } from "../platform.ts";

/** Not urgent: until then the sweep would find, at worst, that all is done. */
const DELAY_MS = 500;
const MOST = 1000;

/** Takes down what events say of their first attempts, once each of those is recorded. Never throws. */
export type Settle = (eventIds: string[]) => void;

export function openSettle(platform: Pick<Platform, "mongo" | "log">): Settle {
  const settle = gather(
    async (batch: string[][]) => {
      await StoredEvents(platform.mongo).updateMany(
        { _id: { $in: batch.flat() } },
        { $unset: { undelivered: 1 } },
        // Not for a majority: lost in a failover, the sweep looks once more.
        { writeConcern: { w: 1 } },
      );
      return batch.map(() => undefined);
    },
    { most: MOST, weigh: ids => ids.length, delayMs: DELAY_MS },
  );
  return eventIds => {
    if (eventIds.length === 0) return;
    settle(eventIds).catch((error: unknown) =>
      platform.log.debug({ err: error }, "events are settled by the sweep"),
    );
  };
}
