import { Deliveries, type Delivery } from "../../models/delivery.ts";
import { Webhooks } from "../../models/webhook.ts";
import { enqueueAll } from "../../queues/define-queue.ts";
import { type Drain, deliveries, type NextAttempt, nextAttemptOf } from "../../queues/deliveries.ts";
import type { JobContext } from "../../queues/run-worker.ts";
import { releasePermits, UNLIMITED } from "../limits/permits.ts";
import type { DeliveryDeps, LogFields } from "./deps.ts";
import type { SharedByLaterAttempts } from "./next-attempt.ts";
import { sendOrdered } from "./ordered.ts";

const BATCH = 500;

/** Handles a `drain` job: takes up what waits at a webhook, as the webhook is now; its settings may have changed. */
export async function drain(
  platform: DeliveryDeps,
  context: Pick<JobContext<Drain>, "job" | "jobId" | "signal" | "isStopping">,
  shared: SharedByLaterAttempts,
): Promise<LogFields> {
  const { webhook_id, reason } = context.job;
  const webhook = await Webhooks(platform.mongo).findById(webhook_id).lean();
  if (webhook?.active && webhook.ordered) return await sendOrdered(platform, webhook, context, shared);
  if (reason === "order") return { webhook_id, enqueued: await enqueueWaiting(platform, webhook_id) };
  // Releasing nothing grants the free permits to the waitlist.
  await releasePermits(platform, webhook_id, [], webhook?.active ? webhook : UNLIMITED);
  return { webhook_id, result: "waitlist-drained" };
}

/** Enqueues a job for each delivery that waited for its turn at a webhook that is not ordered any more. Safe to repeat. */
async function enqueueWaiting(platform: DeliveryDeps, webhookId: string): Promise<number> {
  let enqueued = 0;
  let jobs: NextAttempt[] = [];
  const flush = async () => {
    await enqueueAll(platform.queues, deliveries.jobs["next-attempt"], jobs);
    enqueued += jobs.length;
    jobs = [];
  };
  const waiting = Deliveries(platform.mongo)
    .find(
      // A delivery that is due later has its job already.
      { webhook_id: webhookId, state: "pending", next_attempt_at_ms: { $lte: platform.clock() } },
      { webhook_id: 1, owner_id: 1, generation: 1 },
    )
    .sort({ event_score: 1, _id: 1 })
    .hint("ordered")
    .lean<Delivery[]>()
    .cursor({ batchSize: BATCH });
  for await (const delivery of waiting) {
    jobs.push(nextAttemptOf(delivery));
    if (jobs.length === BATCH) await flush();
  }
  await flush();
  return enqueued;
}
