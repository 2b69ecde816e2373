import { gatherLater } from "../../lib/batcher.ts";
import { StoredEvents } from "../../models/event.ts";
import type { Platform } from "../../platform.ts";

/** Takes down what events say of their first attempts, once each of those is recorded. Never throws. */
export type Settle = (eventIds: string[]) => void;

export function openSettle(platform: Pick<Platform, "mongo" | "log">): Settle {
  return gatherLater(
    async ids => {
      await StoredEvents(platform.mongo).updateMany(
        { _id: { $in: ids } },
        { $unset: { undelivered: 1 } },
        // Not for a majority: lost in a failover, the sweep looks once more.
        { writeConcern: { w: 1 } },
      );
    },
    error => platform.log.debug({ err: error }, "events are settled by the sweep"),
  );
}
