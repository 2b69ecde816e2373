import { LIMITS } from "../../limits/catalogue.ts";
import { BY_QUIET, Issues, UNRESOLVED } from "../../models/issue.ts";
import { Webhooks } from "../../models/webhook.ts";
import type { Stores } from "../../platform.ts";
import type { SweepBatch, SweepBounds } from "../../store/sweeps/sweep-turns.ts";

const BATCH = 200;
/** Issues of what is down for days are looked at again and again. */
export const ISSUES_BOUNDS: SweepBounds = { batches: 10, everyMs: 60_000 };

/**
 * Resolves issues of whose cause nothing was seen for `LIMITS.issueQuietMs`, while their listener is active and does not fail;
 * deletes those of a listener that is gone, whose last failures were counted after it. Those seen the longest ago come first.
 */
export function beginIssueSweep({ mongo, clock }: Stores): SweepBatch {
  const nowMs = clock();
  const quietMs = nowMs - LIMITS.issueQuietMs.value;
  return async cursor => {
    const quiet = await Issues(mongo)
      .find(
        { state: { $in: UNRESOLVED }, last_seen_ms: { $gt: Number(cursor ?? 0), $lt: quietMs } },
        { listener_id: 1, last_seen_ms: 1 },
      )
      .sort({ last_seen_ms: 1 })
      .limit(BATCH)
      .lean();
    const listeners = await Webhooks(mongo)
      .find(
        { _id: { $in: [...new Set(quiet.map(({ listener_id }) => listener_id))] } },
        { active: 1, failing_since_ms: 1 },
      )
      .lean();
    const listenerOf = new Map(listeners.map(listener => [listener._id, listener]));
    const gone = quiet.filter(({ listener_id }) => !listenerOf.has(listener_id));
    const over = quiet.filter(({ listener_id }) => {
      const listener = listenerOf.get(listener_id);
      return listener?.active && listener.failing_since_ms === null;
    });
    const idsOf = (issues: typeof quiet) => ({ _id: { $in: issues.map(({ _id }) => _id) } });
    if (gone.length > 0) await Issues(mongo).deleteMany(idsOf(gone));
    if (over.length > 0) {
      await Issues(mongo).updateMany(
        // Unless it was seen again, or resolved by somebody, in between.
        { ...idsOf(over), state: { $in: UNRESOLVED }, last_seen_ms: { $lt: quietMs } },
        { $set: { state: "resolved", resolved_at_ms: nowMs, resolved_by: BY_QUIET } },
        { hint: { _id: 1 } },
      );
    }
    // Those of the same millisecond as the last one come with the next pass.
    const next = quiet.length < BATCH ? null : String(quiet.at(-1)?.last_seen_ms);
    return { repaired: 0, next };
  };
}
