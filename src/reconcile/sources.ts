import { unixSeconds } from "../lib/time.ts";
import { BEGUN, type Source, type SourceState, Sources } from "../models/source.ts";
import type { Queued, Stores } from "../platform.ts";
import { enqueueRun } from "../queues/runs.ts";
import { deleteUndeployed, enqueueDeactivation } from "../sources/change.ts";
import { abandonDeployment, enqueueSourceDeletion, finishDeletion } from "../sources/delete-source.ts";
import { ofAccount } from "../store/runs/run-queue.ts";
import { repairEach } from "../store/sweeps/repair-each.ts";
import type { SweepBatch } from "../store/sweeps/sweep-turns.ts";

const BATCH = 200;
/** The request that deploys a source gives up long before. */
const DEPLOYING_MS = 15 * 60_000;

/**
 * Enqueues the deletion of sources that have been in the state `deleting` for `graceMs` and whose run queue is empty, and
 * ends the deletion of those that were deactivated.
 */
export function beginDeletionSweep(platform: Stores & Queued, graceMs: number): SweepBatch {
  return sweepState(platform, "deleting", {
    step: "deleting",
    olderThanMs: graceMs,
    repair: async ({ _id: sourceId }) => {
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
export function beginDeploymentSweep(platform: Stores & Queued): SweepBatch {
  return sweepState(platform, "deploying", {
    step: "deploying",
    olderThanMs: DEPLOYING_MS,
    // One whose hooks were called is deactivated first: see `beginChangeSweep`.
    repair: source => deleteUndeployed(platform, source, { unlessBegun: true }),
  });
}

type Found = Pick<Source, "_id" | "owner_id" | "updated_at">;

interface StateSweep {
  step: string;
  olderThanMs: number;
  repair: (source: Found) => Promise<boolean>;
}

/** Goes through the sources in a state by id. */
function sweepState(
  platform: Stores & Queued,
  state: SourceState,
  { step, olderThanMs, repair }: StateSweep,
): SweepBatch {
  const before = unixSeconds(platform.clock() - olderThanMs);
  return async cursor => {
    const sources: Found[] = await Sources(platform.mongo)
      .find({ state, _id: { $gt: cursor ?? "" } }, { owner_id: 1, updated_at: 1 })
      .sort({ _id: 1 })
      .limit(BATCH)
      .lean();
    const old = sources.filter(({ updated_at }) => updated_at <= before);
    const repaired = await repairEach(platform, old, { step, idOf: ({ _id }) => _id, repair });
    return { repaired, next: sources.length < BATCH ? null : (sources.at(-1)?._id ?? null) };
  };
}

type Begun = Pick<Source, "_id" | "owner_id" | "state" | "begun">;
/** Longer than the hooks of a change take and its request waits. Milliseconds. */
const BEGUN_MS = 5 * 60_000;

/**
 * Has changes undone that began and of which the run queue no longer knows, for example because Redis lost its data:
 * their hooks may have switched a source off that says it is active. A source that was switched off has its hook called.
 */
export function beginChangeSweep(platform: Stores & Queued): SweepBatch {
  const beforeMs = platform.clock() - BEGUN_MS;
  return async cursor => {
    const sources = await Sources(platform.mongo)
      .find({ "begun.run_id": { $type: "string", $gt: cursor ?? "" } }, { owner_id: 1, state: 1, begun: 1 })
      .hint(BEGUN)
      .sort({ "begun.run_id": 1 })
      .limit(BATCH)
      .lean<Begun[]>();
    const old = sources.filter(({ begun }) => begun !== undefined && begun.at_ms <= beforeMs);
    const repaired = await repairEach(platform, old, {
      step: "changes",
      idOf: ({ _id }) => _id,
      repair: source => undoIfLost(platform, source),
    });
    return { repaired, next: sources.length < BATCH ? null : (sources.at(-1)?.begun?.run_id ?? null) };
  };
}

async function undoIfLost(
  platform: Stores & Queued,
  { _id, owner_id, state, begun }: Begun,
): Promise<boolean> {
  if (!begun || state === "deleting" || (await platform.runQueue.length(_id)) > 0) return false;
  if (state === "deploying") return await abandonDeployment(platform, { _id, owner_id });
  if (begun.stage === "switched-off") {
    await enqueueDeactivation(platform, { _id, owner_id, begun });
    return true;
  }
  // Without its candidate, and expired: a worker only undoes it.
  const { run_id, at_ms } = begun;
  const item = { kind: "change", op: "update", run_id, at_ms, expires_at_ms: at_ms } as const;
  await enqueueRun(platform, _id, item, ofAccount(owner_id));
  return true;
}
