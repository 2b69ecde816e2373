import { createDeferredBatcher } from "../../lib/batcher.ts";
import { StoredEvents } from "../../models/event.ts";
import type { Platform } from "../../platform.ts";

/** Removes `pending_dispatch` from stored events (by their ids), a little later and many at a time. Never throws. */
export type ClearPendingDispatch = (storedEventIds: string[]) => void;

export function openClearPendingDispatch(platform: Pick<Platform, "mongo" | "log">): ClearPendingDispatch {
  return createDeferredBatcher(
    async ids => {
      await StoredEvents(platform.mongo).updateMany(
        { _id: { $in: ids } },
        { $unset: { pending_dispatch: 1 } },
        // Not by a majority: if a failover loses it, the sweep looks once more.
        { writeConcern: { w: 1 } },
      );
    },
    error => platform.log.debug({ err: error }, "pending dispatches are left to the sweep"),
  );
}
