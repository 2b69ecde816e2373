import { Deliveries, type Delivery } from "../models/delivery.ts";
import { Webhooks } from "../models/webhook.ts";
import type { Platform } from "../platform.ts";
import { enqueueAll, openedQueue } from "../queues/define-queue.ts";
import { deliveries, type NextAttempt } from "../queues/deliveries.ts";
import { enqueueTurn } from "../queues/enqueue-drain.ts";

type Stores = Pick<Platform, "mongo" | "queues" | "config" | "clock">;
type Overdue = Pick<Delivery, "_id" | "webhook_id" | "round" | "next_attempt_at_ms">;

const BATCH = 500;
/** What waits in line for a slow endpoint is overdue for good reason, so it is looked at ever less often, down to this. */
const RECHECK_MS = 15 * 60_000;

/**
 * Enqueues every pending delivery that is overdue and has no job: what was stored and never enqueued, or was lost with
 * Redis (design.md, guarantee 2). Answers how many. What waits in order has no job, and its webhook gets a turn instead,
 * which is not counted: most such lines wait for good reason. Works in batches, each of which is put off to a later look
 * before the next is read.
 */
export async function enqueueOverdue(platform: Stores): Promise<number> {
  let enqueued = 0;
  for (;;) {
    const overdue: Overdue[] = await Deliveries(platform.mongo)
      .find(
        { state: "pending", sweep_at_ms: { $lte: platform.clock() } },
        { webhook_id: 1, round: 1, next_attempt_at_ms: 1 },
      )
      .sort({ sweep_at_ms: 1 })
      .limit(BATCH)
      .lean<Overdue[]>();
    const ordered = await orderedOf(platform, overdue);
    for (const webhookId of ordered) await enqueueTurn(platform, webhookId, "order", 0);
    enqueued += await enqueueLost(
      platform,
      overdue.filter(({ webhook_id }) => !ordered.has(webhook_id)),
    );
    await putOff(platform, overdue);
    if (overdue.length < BATCH) return enqueued;
  }
}

async function orderedOf(platform: Stores, overdue: Overdue[]): Promise<Set<string>> {
  if (overdue.length === 0) return new Set();
  const ordered = await Webhooks(platform.mongo)
    .find(
      { _id: { $in: overdue.map(({ webhook_id }) => webhook_id) }, active: true, ordered: true },
      { _id: 1 },
    )
    .lean();
  return new Set(ordered.map(({ _id }) => _id));
}

async function enqueueLost(platform: Stores, overdue: Overdue[]): Promise<number> {
  const found = await Promise.all(overdue.map(delivery => jobState(platform, delivery)));
  const lost = overdue.filter((_, index) => found[index] === "absent").map(jobOf);
  // A job that gave up is kept for a person to see, and would swallow an `add` of its id: a new round has another.
  const renewed = await nextRound(
    platform,
    overdue.filter((_, index) => found[index] === "given-up"),
  );
  await enqueueAll(platform.queues, deliveries, [...lost, ...renewed]);
  return lost.length + renewed.length;
}

const jobOf = ({ _id, webhook_id, round }: Overdue): NextAttempt => ({
  delivery_id: _id,
  webhook_id,
  round,
});

async function jobState(platform: Stores, delivery: Overdue): Promise<"absent" | "live" | "given-up"> {
  const queue = openedQueue(platform.queues, deliveries);
  const job = await queue.getJob(`${delivery._id}-${delivery.round}`);
  if (!job) return "absent";
  return job.finishedOn ? "given-up" : "live";
}

/** Gives each the next round; those that moved on meanwhile are left out. */
async function nextRound(platform: Stores, overdue: Overdue[]): Promise<NextAttempt[]> {
  const jobs: NextAttempt[] = [];
  for (const delivery of overdue) {
    const { matchedCount } = await Deliveries(platform.mongo).updateOne(
      { _id: delivery._id, state: "pending", round: delivery.round },
      { $inc: { round: 1 } },
    );
    if (matchedCount > 0) jobs.push({ ...jobOf(delivery), round: delivery.round + 1 });
  }
  return jobs;
}

async function putOff(platform: Stores, overdue: Overdue[]): Promise<void> {
  if (overdue.length === 0) return;
  const now = platform.clock();
  const { sweepEveryMs } = platform.config;
  await Deliveries(platform.mongo).bulkWrite(
    overdue.map(({ _id, next_attempt_at_ms }) => {
      const age = now - (next_attempt_at_ms ?? now);
      const sweep_at_ms = now + Math.max(sweepEveryMs, Math.min(age, RECHECK_MS));
      // One that was recorded meanwhile has its own new time, in the future.
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
