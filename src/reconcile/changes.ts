import { Sources } from "../models/source.ts";
import type { Platform } from "../platform.ts";
import { enqueueRun } from "../queues/enqueue-run.ts";
import { abandonDeployment } from "../sources/delete-source.ts";

type Deps = Pick<Platform, "mongo" | "queues" | "runQueue" | "clock">;

/** Longer than the hooks of a change take and its request waits. */
const BEGUN_MS = 5 * 60_000;
/** Changes looked at in one pass. */
const MOST = 1000;

/**
 * Has changes undone that began and of which the run queue no longer knows, for example because Redis lost its data:
 * their hooks may have switched a source off that says it is active. Returns how many.
 */
export async function undoLostChanges(platform: Deps): Promise<number> {
  const begun = await Sources(platform.mongo)
    .find({ "begun.at_ms": { $gt: 0, $lte: platform.clock() - BEGUN_MS } }, { state: 1, begun: 1 })
    .hint("begun")
    .sort({ "begun.at_ms": 1 })
    .limit(MOST)
    .lean();
  let undone = 0;
  for (const { _id, state, begun: change } of begun) {
    if (!change || state === "deleting" || (await platform.runQueue.length(_id)) > 0) continue;
    undone += 1;
    if (state === "deploying") await abandonDeployment(platform, _id);
    else {
      // Without its candidate, and expired: a worker only undoes it.
      const { run_id, at_ms } = change;
      await enqueueRun(platform, _id, { kind: "change", op: "update", run_id, at_ms, expires_at_ms: at_ms });
    }
  }
  return undone;
}
