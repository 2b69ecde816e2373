import { Deliveries } from "../models/delivery.ts";
import type { Platform } from "../platform.ts";
import type { NextAttempt } from "../queues/deliveries.ts";
import type { Holder } from "./limits/permits.ts";

/**
 * A job that has held its permit for so long, and is neither stored nor has left its delivery to a later sweep, was lost: with
 * the Redis master that had it, or with the process that was about to enqueue it. Far longer than an attempt stays in its job
 * (`DETACH_MS` in src/deliveries/worker/detached.ts). Milliseconds.
 */
export const LOST_AFTER_MS = 5000;

/**
 * Returns which of these jobs, none of which was stored a moment ago, were lost with their permits. An attempt that goes on
 * without its job has moved its delivery to a later sweep before that job ended; therefore deliveries are read after jobs were
 * looked up. `nowMs` is when the sweep's turn began. Throws `unavailable` if MongoDB is away.
 */
export async function findLostJobs(
  { mongo }: Pick<Platform, "mongo">,
  holders: Holder[],
  nowMs: number,
): Promise<NextAttempt[]> {
  const jobs = holders.filter(({ forMs }) => forMs >= LOST_AFTER_MS).map(({ job }) => job);
  if (jobs.length === 0) return [];
  const ids = jobs.map(({ delivery_id }) => delivery_id);
  const due = await Deliveries(mongo)
    .find({ _id: { $in: ids }, state: "pending", sweep_at_ms: { $lte: nowMs } }, { generation: 1 })
    .hint({ _id: 1 })
    .lean();
  const generations = new Map(due.map(({ _id, generation }) => [_id, generation]));
  return jobs.filter(({ delivery_id, generation }) => {
    const stored = generations.get(delivery_id);
    // A job from the waitlist is a generation ahead of its delivery.
    return stored === generation || stored === generation - 1;
  });
}
