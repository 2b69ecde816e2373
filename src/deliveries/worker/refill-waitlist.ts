import { Deliveries, type Delivery } from "../../models/delivery.ts";
import { jobStates } from "../../queues/define-queue.ts";
import { deliveries, nextAttemptJobId, nextAttemptOf } from "../../queues/deliveries.ts";
import { enqueueDrain } from "../../queues/enqueue-drain.ts";
import { permitCount, type WebhookLimits, waitlistEntry } from "../limits/permits.ts";
import type { DeliveryDeps } from "./deps.ts";

/** Deliveries looked at in one refill, besides those in flight: more than are on a waitlist when it is refilled. */
const BATCH = 1000;
/** A delivery that became due a moment ago may be on its way to the waitlist by itself. Milliseconds. */
const SETTLE_MS = 1000;

type Due = Pick<
  Delivery,
  "_id" | "webhook_id" | "owner_id" | "generation" | "next_attempt_at_ms" | "first_attempt_until_ms"
>;

/**
 * Adds the deliveries of a webhook that have been due for the longest, and wait in MongoDB only, to its waitlist as far as
 * they fit, without those that have a job, are in flight or wait on it already; returns how many. What is left is noted, and
 * a later `releasePermits` has it fetched; if nothing could be added although there is room, another drain looks again soon.
 * Safe to repeat: an entry is spelled as `acquirePermits` spells it. Throws `unavailable`.
 */
export async function refillWaitlist(platform: DeliveryDeps, webhook: WebhookLimits): Promise<number> {
  const now = platform.clock();
  // Read first: what is added to the overflow from here on may be missing below.
  const overflow = await platform.permits.overflow(webhook._id);
  const most = BATCH + permitCount(platform, webhook);
  const due = await findDue(platform, webhook._id, now, most);
  const settled = due.filter(({ next_attempt_at_ms }) => (next_attempt_at_ms ?? 0) <= now - SETTLE_MS);
  const isAll = due.length < most && settled.length === due.length;
  const candidates = await withoutJobs(
    platform,
    settled.filter(delivery => !isFirstAttemptInFlight(delivery, now)),
  );
  const { added, isFull } = await platform.permits.refill(webhook._id, candidates.map(refillCandidate), {
    overflow,
    isAll,
  });
  if (added === 0 && !isFull && !isAll) await enqueueDrain(platform, webhook, "refill", SETTLE_MS, SETTLE_MS);
  return added;
}

async function findDue(
  platform: DeliveryDeps,
  webhookId: string,
  nowMs: number,
  most: number,
): Promise<Due[]> {
  return await Deliveries(platform.mongo)
    .find(
      { webhook_id: webhookId, state: "pending", next_attempt_at_ms: { $lte: nowMs } },
      { webhook_id: 1, owner_id: 1, generation: 1, next_attempt_at_ms: 1, first_attempt_until_ms: 1 },
    )
    .sort({ next_attempt_at_ms: 1 })
    .hint("due_at_webhook")
    .limit(most)
    .lean<Due[]>();
}

/** The permit of a first attempt is not named after its delivery. */
const isFirstAttemptInFlight = ({ generation, first_attempt_until_ms: until }: Due, nowMs: number) =>
  generation === 0 && until !== undefined && until > nowMs;

/**
 * Leaves out deliveries with a job, of this generation or of the next one, which those from the waitlist have. A job that
 * failed is kept, and would swallow the one that the waitlist leads to: that delivery is left to the sweep.
 */
async function withoutJobs(platform: DeliveryDeps, due: Due[]): Promise<Due[]> {
  const ids = (ahead: number) =>
    due.map(delivery =>
      nextAttemptJobId(nextAttemptOf({ ...delivery, generation: delivery.generation + ahead })),
    );
  const [present, next] = await Promise.all([
    jobStates(platform, deliveries, ids(0)),
    jobStates(platform, deliveries, ids(1)),
  ]);
  return due.filter((_, i) => present[i] !== "live" && next[i] === "absent");
}

function refillCandidate(delivery: Due) {
  const present = nextAttemptOf(delivery);
  const next = { ...present, generation: present.generation + 1 };
  return {
    job: waitlistEntry(next),
    names: [nextAttemptJobId(next), nextAttemptJobId(present)] as [string, string],
  };
}
