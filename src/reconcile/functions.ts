import { EVENT_KEPT_SECONDS } from "../models/event.ts";
import { AutoSubscriptions, StoredFunctions, Subscriptions } from "../models/subscription.ts";
import type { Stores } from "../platform.ts";
import type { SweepBatch, SweepBounds } from "../store/sweeps/sweep-turns.ts";

const BATCH = 200;
export const FUNCTIONS_BOUNDS: SweepBounds = { batches: 10, everyMs: 3_600_000 };

/**
 * Deletes functions that no subscription and no auto subscription has had for as long as deliveries are kept: those of a subscription that was deleted
 * with its emitter still go through its function (docs/functions.md).
 */
export function beginFunctionSweep({ mongo, clock }: Stores): SweepBatch {
  return async cursor => {
    const functions = StoredFunctions(mongo);
    const batch = await functions
      .find({ _id: { $gt: cursor ?? "" } }, { saves: 1, unused_since_ms: 1 })
      .sort({ _id: 1 })
      .limit(BATCH)
      .lean();
    const ids = batch.map(({ _id }) => _id);
    const having = { function_hash: { $in: ids } };
    const found = await Promise.all([
      Subscriptions(mongo).distinct("function_hash", having),
      AutoSubscriptions(mongo).distinct("function_hash", having),
    ]);
    const used = new Set(found.flat());
    for (const { _id, saves, unused_since_ms: since } of batch) {
      // A save in between changes `saves`, and so keeps it.
      const asSeen = { _id, saves };
      const isUsed = used.has(_id);
      if (isUsed && since !== undefined)
        await functions.updateOne(asSeen, { $unset: { unused_since_ms: 1 } });
      if (isUsed) continue;
      if (since === undefined) await functions.updateOne(asSeen, { $set: { unused_since_ms: clock() } });
      else if (clock() - since > EVENT_KEPT_SECONDS * 1000) await functions.deleteOne(asSeen);
    }
    return { repaired: 0, next: batch.length < BATCH ? null : (ids.at(-1) ?? null) };
  };
}
