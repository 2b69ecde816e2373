import { Deliveries, type Delivery } from "../../models/delivery.ts";
import { Webhooks } from "../../models/webhook.ts";
import type { NextAttempt } from "../../queues/deliveries.ts";
import { enqueueDrain } from "../../queues/enqueue-drain.ts";
import type { RetryOptions } from "../attempt/attempt.ts";
import { acquirePermit, releasePermit, UNLIMITED, type WebhookLimits } from "../limits/permits.ts";
import { attemptDelivery } from "./attempt-delivery.ts";
import type { DeliveryDeps, LogFields } from "./deps.ts";

/**
 * Handles a `next-attempt` job: makes the attempt that is due, unless the job is superseded or the webhook has no free
 * permit, and records what follows (docs/design.md#delivery-to-a-webhook). An ordered webhook is drained instead. An error
 * is a failure of ours, after which the job may be started again: it repeats the attempt under the same `webhook-id`.
 */
export async function makeNextAttempt(
  platform: DeliveryDeps,
  { job, signal }: { job: NextAttempt; signal?: AbortSignal },
  options: RetryOptions = {},
): Promise<LogFields> {
  const [delivery, webhook] = await Promise.all([
    // The last attempt holds the number; reading all fifty would be a waste.
    Deliveries(platform.mongo)
      .findById(job.delivery_id, { attempts: { $slice: -1 } })
      .lean<Delivery>(),
    Webhooks(platform.mongo).findById(job.webhook_id).lean(),
  ]);
  const ids = {
    delivery_id: job.delivery_id,
    webhook_id: job.webhook_id,
    event_id: delivery?.event_id,
    emitter_id: delivery?.emitter_id,
  };
  const isDueNow = delivery !== null && isDue(delivery, job, platform.clock());
  const isOrdered = webhook?.active && webhook.ordered;
  let limits: WebhookLimits = webhook?.active ? webhook : UNLIMITED;
  if (isDueNow && webhook?.active && !isOrdered && !(await acquirePermit(platform, webhook, job))) {
    return { ...ids, result: "waitlisted" };
  }
  try {
    if (!isDueNow) return { ...ids, result: "superseded" };
    if (isOrdered) {
      await enqueueDrain(platform, webhook, "order", 0);
      return { ...ids, result: "ordered" };
    }
    const due = { delivery, webhook, generation: job.generation, signal, options };
    const { fields, isFailing } = await attemptDelivery(platform, due);
    if (isFailing !== undefined) {
      limits = { ...limits, failing_since_ms: isFailing ? platform.clock() : null };
    }
    return { ...ids, ...fields };
  } finally {
    // Also for a job that acquired nothing: it may have been granted a permit, and those behind it wait for it.
    await releasePermit(platform, limits, job);
  }
}

/**
 * A job of an earlier generation was superseded. A job of a later one was on the waitlist (see `acquirePermits`), and is
 * superseded too if another attempt was made in between and the next one is not due yet.
 */
function isDue(delivery: Delivery, job: NextAttempt, nowMs: number): boolean {
  if (delivery.state !== "pending" || job.generation < delivery.generation) return false;
  return job.generation === delivery.generation || (delivery.next_attempt_at_ms ?? 0) <= nowMs;
}
