import { Deliveries, type Delivery } from "../../models/delivery.ts";
import { Webhooks } from "../../models/webhook.ts";
import type { NextAttempt } from "../../queues/deliveries.ts";
import { enqueueTurn } from "../../queues/enqueue-drain.ts";
import type { RetryOptions } from "../attempt/attempt.ts";
import { enterPlace, type Limited, leavePlace, UNLIMITED } from "../limits/permits.ts";
import { attemptPending, type DeliveryPlatform, type Line } from "./attempt-delivery.ts";

/**
 * Works one job: makes the attempt that is due, unless the job is void or the webhook has no place free, and records
 * and schedules what follows (design.md, "Delivery to a webhook"). At an ordered webhook the line has its turn instead.
 * Whatever it throws is a failure of ours, and the job may be given out again: the attempt is then repeated under the
 * same `webhook-id`.
 */
export async function processDelivery(
  platform: DeliveryPlatform,
  { job, signal }: { job: NextAttempt; signal?: AbortSignal },
  options: RetryOptions = {},
): Promise<Line> {
  const [delivery, webhook] = await Promise.all([
    // Of the attempts the last tells the number; all fifty would be read for nothing.
    Deliveries(platform.mongo)
      .findById(job.delivery_id, { attempts: { $slice: -1 } })
      .lean<Delivery>(),
    Webhooks(platform.mongo).findById(job.webhook_id).lean(),
  ]);
  const about = { delivery_id: job.delivery_id, webhook_id: job.webhook_id, event_id: delivery?.event_id };
  const due = delivery !== null && isDue(delivery, job, platform.clock());
  const inOrder = webhook?.active && webhook.ordered;
  let limited: Limited = webhook?.active ? webhook : UNLIMITED;
  if (due && webhook?.active && !inOrder && !(await enterPlace(platform, webhook, job))) {
    return { ...about, result: "waiting" };
  }
  try {
    if (!due) return { ...about, result: "void" };
    if (inOrder) {
      await enqueueTurn(platform, webhook._id, "order", 0);
      return { ...about, result: "in-order" };
    }
    const { line, isFailing } = await attemptPending(platform, {
      delivery,
      webhook,
      round: job.round,
      signal,
      options,
    });
    if (isFailing !== undefined) {
      limited = { ...limited, failing_since_ms: isFailing ? platform.clock() : null };
    }
    return { ...about, ...line };
  } finally {
    // Also by a job that never entered: it may have been called in, and those behind it wait for its place.
    await leavePlace(platform, limited, job);
  }
}

/**
 * A job of an earlier round was replaced. One of a later round waited in line (see `enterPlaces`), and is void too when
 * another attempt was made meanwhile and the next one is not due yet.
 */
function isDue(delivery: Delivery, job: NextAttempt, nowMs: number): boolean {
  if (delivery.state !== "pending" || job.round < delivery.round) return false;
  return job.round === delivery.round || (delivery.next_attempt_at_ms ?? 0) <= nowMs;
}
