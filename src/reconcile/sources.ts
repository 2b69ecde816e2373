import { unixSeconds } from "../lib/time.ts";
import { type Source, type SourceState, Sources } from "../models/source.ts";
import type { Platform } from "../platform.ts";
import { enqueueSourceDeletion, finishDeletion } from "../sources/delete-source.ts";
import { repairEach } from "../store/repair-each.ts";
import type { SweepBatch } from "../store/sweep-turns.ts";

type Deps = Pick<
  Platform,
  "mongo" | "redis" | "keys" | "queues" | "runQueue" | "eventLog" | "routing" | "clock" | "log"
>;

const BATCH = 200;
/** The request that deploys a source gives up long before. */
const DEPLOYING_MS = 15 * 60_000;

/**
 * Enqueues the deletion of sources that have been in the state `deleting` for `graceMs` and whose run queue is empty, and
 * ends the deletion of those that were deactivated.
 */
export function beginDeletionSweep(platform: Deps, graceMs: number): SweepBatch {
  return sweepState(platform, "deleting", {
    step: "deleting",
    olderThanMs: graceMs,
    repair: async sourceId => {
      const source = await Sources(platform.mongo).findOne({ _id: sourceId, state: "deleting" }).lean();
      if (!source) return false;
      if (source.deactivated_at !== undefined) return await finishDeletion(platform, source);
      // If the run queue is not empty, the deletion is already in it.
      if ((await platform.runQueue.length(sourceId)) > 0) return false;
      await enqueueSourceDeletion(platform, sourceId, source.owner_id);
      return true;
    },
  });
}

/** Deletes sources whose deployment was given up by its request long ago. */
export function beginDeploymentSweep(platform: Deps): SweepBatch {
  return sweepState(platform, "deploying", {
    step: "deploying",
    olderThanMs: DEPLOYING_MS,
    repair: async sourceId => {
      const { deletedCount } = await Sources(platform.mongo).deleteOne({
        _id: sourceId,
        state: "deploying",
        // One whose hooks were called is deactivated first: see `beginChangeSweep`.
        begun: null,
      });
      return deletedCount > 0;
    },
  });
}

interface StateSweep {
  step: string;
  olderThanMs: number;
  repair: (sourceId: string) => Promise<boolean>;
}

/** Goes through the sources in a state by id. */
function sweepState(
  platform: Deps,
  state: SourceState,
  { step, olderThanMs, repair }: StateSweep,
): SweepBatch {
  const before = unixSeconds(platform.clock() - olderThanMs);
  return async cursor => {
    const sources: Pick<Source, "_id" | "updated_at">[] = await Sources(platform.mongo)
      .find({ state, _id: { $gt: cursor ?? "" } }, { updated_at: 1 })
      .sort({ _id: 1 })
      .limit(BATCH)
      .lean();
    const old = sources.filter(({ updated_at }) => updated_at <= before).map(({ _id }) => _id);
    const repaired = await repairEach(platform, old, { step, idOf: id => id, repair });
    return { repaired, next: sources.length < BATCH ? null : (sources.at(-1)?._id ?? null) };
  };
}
