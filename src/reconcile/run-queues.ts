import type { Part } from "../lib/part.ts";
import { Sources } from "../models/source.ts";
import type { Queued, Stores } from "../platform.ts";
import { notifyAgain } from "../queues/runs.ts";
import { repairEach } from "../store/sweeps/repair-each.ts";
import type { SweepBatch, SweepBounds } from "../store/sweeps/sweep-turns.ts";

/** 5,000 sources a turn of each part, whose runs wait for their turn: each is some commands. */
export const RUN_QUEUES_BOUNDS: SweepBounds = { batches: 25, everyMs: 0 };

/** Notifies the workers of runs that have waited for `graceMs` while no worker holds their source's lease. */
export function beginRunQueueSweep(platform: Stores & Queued, graceMs: number, part: Part): SweepBatch {
  const beforeMs = platform.clock() - graceMs;
  return async cursor => {
    const { listed, next } = await platform.runQueue.findListed(beforeMs, cursor, part);
    const repaired = await repairEach(platform, listed, {
      step: "run_queues",
      idOf: sourceId => sourceId,
      repair: async sourceId => {
        if (!(await platform.runQueue.isStalled(sourceId))) return false;
        const source = await Sources(platform.mongo).findById(sourceId, { owner_id: 1 }).lean();
        return await notifyAgain(platform, sourceId, source?.owner_id);
      },
    });
    return { repaired, next };
  };
}
