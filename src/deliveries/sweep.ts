import { Deliveries, type Delivery } from "../models/delivery.ts";
import { Webhooks } from "../models/webhook.ts";
import type { Platform } from "../platform.ts";
import { enqueueAll, jobState } from "../queues/define-queue.ts";
import { deliveries, type NextAttempt, nextAttemptJobId, nextAttemptOf } from "../queues/deliveries.ts";
import { enqueueDrain } from "../queues/enqueue-drain.ts";

type Deps = Pick<Platform, "mongo" | "queues" | "config" | "clock">;
type Overdue = Pick<Delivery, "_id" | "webhook_id" | "owner_id" | "generation" | "next_attempt_at_ms">;

const BATCH = 500;
/** A delivery on the waitlist of a slow endpoint is overdue for good reason, so it is checked ever less often, up to this. */
const MAX_RECHECK_MS = 15 * 60_000;

/**
 * Enqueues every pending delivery that is overdue and has no job: it was stored and never enqueued, or its job was lost
 * with Redis (docs/design.md#guarantee-2). Returns how many. Deliveries to an ordered webhook have no jobs; their webhook
 * is drained instead, which is not counted. Works in batches, each postponed to a later check before the next is read.
 */
export async function enqueueOverdueDeliveries(platform: Deps): Promise<number> {
  let enqueued = 0;
  for (;;) {
    const overdue: Overdue[] = await Deliveries(platform.mongo)
      .find(
        { state: "pending", sweep_at_ms: { $lte: platform.clock() } },
        { webhook_id: 1, owner_id: 1, generation: 1, next_attempt_at_ms: 1 },
      )
      .sort({ sweep_at_ms: 1 })
      .limit(BATCH)
      .lean<Overdue[]>();
    const ordered = await orderedWebhooks(platform, overdue);
    for (const webhookId of ordered) await enqueueDrain(platform, webhookId, "order", 0);
    enqueued += await enqueueLost(
      platform,
      overdue.filter(({ webhook_id }) => !ordered.has(webhook_id)),
    );
    await postpone(platform, overdue);
    if (overdue.length < BATCH) return enqueued;
  }
}

async function orderedWebhooks(platform: Deps, overdue: Overdue[]): Promise<Set<string>> {
  if (overdue.length === 0) return new Set();
  const ordered = await Webhooks(platform.mongo)
    .find(
      { _id: { $in: overdue.map(({ webhook_id }) => webhook_id) }, active: true, ordered: true },
      { _id: 1 },
    )
    .lean();
  return new Set(ordered.map(({ _id }) => _id));
}

async function enqueueLost(platform: Deps, overdue: Overdue[]): Promise<number> {
  const states = await Promise.all(
    overdue.map(delivery => jobState(platform.queues, deliveries, nextAttemptJobId(nextAttemptOf(delivery)))),
  );
  const lost = overdue.filter((_, index) => states[index] === "absent").map(nextAttemptOf);
  // A failed job is kept for an operator to see and would swallow an `add` of its id: a new generation has another id.
  const renewed = await nextGeneration(
    platform,
    overdue.filter((_, index) => states[index] === "finished"),
  );
  await enqueueAll(platform.queues, deliveries.jobs["next-attempt"], [...lost, ...renewed]);
  return lost.length + renewed.length;
}

/** Moves each delivery to its next generation; those that moved on by themselves are left out. */
async function nextGeneration(platform: Deps, overdue: Overdue[]): Promise<NextAttempt[]> {
  const jobs: NextAttempt[] = [];
  for (const delivery of overdue) {
    const { matchedCount } = await Deliveries(platform.mongo).updateOne(
      { _id: delivery._id, state: "pending", generation: delivery.generation },
      { $inc: { generation: 1 } },
    );
    if (matchedCount > 0) jobs.push(nextAttemptOf({ ...delivery, generation: delivery.generation + 1 }));
  }
  return jobs;
}

async function postpone(platform: Deps, overdue: Overdue[]): Promise<void> {
  if (overdue.length === 0) return;
  const now = platform.clock();
  const { sweepEveryMs } = platform.config;
  await Deliveries(platform.mongo).bulkWrite(
    overdue.map(({ _id, next_attempt_at_ms }) => {
      const age = now - (next_attempt_at_ms ?? now);
      const sweep_at_ms = now + Math.max(sweepEveryMs, Math.min(age, MAX_RECHECK_MS));
      // A delivery that was recorded in between has a new time of its own, in the future.
      return {
        updateOne: {
          filter: { _id, state: "pending", sweep_at_ms: { $lte: now } },
          update: { $set: { sweep_at_ms } },
        },
      };
    }),
    { ordered: false },
  );
}
