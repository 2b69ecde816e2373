import { BEGUN, type Source, Sources } from "../models/source.ts";
import type { Platform } from "../platform.ts";
import { enqueueRun } from "../queues/enqueue-run.ts";
import { enqueueDeactivation } from "../sources/begun-change.ts";
import { abandonDeployment } from "../sources/delete-source.ts";
import { repairEach } from "../store/repair-each.ts";
import { ofAccount } from "../store/run-queue.ts";
import type { SweepBatch } from "../store/sweep-turns.ts";

type Deps = Pick<Platform, "mongo" | "redis" | "keys" | "queues" | "runQueue" | "clock" | "log">;
type Begun = Pick<Source, "_id" | "owner_id" | "state" | "begun">;

const BATCH = 200;
/** Longer than the hooks of a change take and its request waits. Milliseconds. */
const BEGUN_MS = 5 * 60_000;

/**
 * Has changes undone that began and of which the run queue no longer knows, for example because Redis lost its data:
 * their hooks may have switched a source off that says it is active. A source that was switched off has its hook called.
 */
export function beginChangeSweep(platform: Deps): SweepBatch {
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

async function undoIfLost(platform: Deps, { _id, owner_id, state, begun }: Begun): Promise<boolean> {
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
