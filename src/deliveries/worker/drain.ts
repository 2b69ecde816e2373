import { Deliveries, type Delivery } from "../../models/delivery.ts";
import { Webhooks } from "../../models/webhook.ts";
import { enqueueAll } from "../../queues/define-queue.ts";
import { deliveries, type LineTurn, type NextAttempt } from "../../queues/deliveries.ts";
import type { Work } from "../../queues/run-worker.ts";
import type { RetryOptions } from "../attempt/attempt.ts";
import { leavePlaces, UNLIMITED } from "../limits/permits.ts";
import type { DeliveryPlatform, Line } from "./attempt-delivery.ts";
import { sendInOrder } from "./ordered.ts";
import { nextAttempt } from "./park.ts";

const BATCH = 500;

/** Works the turn of those that wait at a webhook, as the webhook is now: it may have become an ordered one, or none. */
export async function takeTurn(
  platform: DeliveryPlatform,
  work: Pick<Work<LineTurn>, "job" | "jobId" | "signal" | "stopping">,
  options: RetryOptions,
): Promise<Line> {
  const { webhook_id, line } = work.job;
  const webhook = await Webhooks(platform.mongo).findById(webhook_id).lean();
  if (webhook?.active && webhook.ordered) return await sendInOrder(platform, webhook, work, options);
  if (line === "order") return { webhook_id, released: await release(platform, webhook_id) };
  await leavePlaces(platform, webhook_id, [], webhook?.active ? webhook : UNLIMITED);
  return { webhook_id, result: "called-in" };
}

/** Gives a job to each delivery that waited in order and need not any more. Answers how many. Safe to repeat. */
async function release(platform: DeliveryPlatform, webhookId: string): Promise<number> {
  let released = 0;
  let jobs: NextAttempt[] = [];
  const flush = async () => {
    await enqueueAll(platform.queues, deliveries, jobs);
    released += jobs.length;
    jobs = [];
  };
  const line = Deliveries(platform.mongo)
    .find(
      // What is due later has its job already.
      { webhook_id: webhookId, state: "pending", next_attempt_at_ms: { $lte: platform.clock() } },
      { webhook_id: 1, round: 1 },
    )
    .sort({ event_score: 1, _id: 1 })
    .hint("line")
    .lean<Delivery[]>()
    .cursor({ batchSize: BATCH });
  for await (const delivery of line) {
    jobs.push(nextAttempt(delivery));
    if (jobs.length === BATCH) await flush();
  }
  await flush();
  return released;
}
