import { AppError, notFound } from "../lib/errors.ts";
import { Deliveries, type Delivery } from "../models/delivery.ts";
import { StoredEvents } from "../models/event.ts";
import { type Webhook, Webhooks } from "../models/webhook.ts";
import type { Platform } from "../platform.ts";
import { enqueue } from "../queues/define-queue.ts";
import { deliveries } from "../queues/deliveries.ts";
import { isUnsubscribed } from "../subscriptions/ended.ts";

type Stores = Pick<Platform, "mongo" | "queues" | "config" | "clock">;

/** What a retry by hand changes beside the round: due now, and the schedule begins anew. */
export function retryNow({ clock, config }: Pick<Stores, "clock" | "config">, delayMs = 0) {
  const at = clock() + delayMs;
  return {
    state: "pending",
    reason: null,
    step: 0,
    trigger: "manual",
    next_attempt_at_ms: at,
    sweep_at_ms: at + config.sweepEveryMs,
    finished_at_ms: null,
  } as const;
}

/** Throws `conflict` for a webhook that would get nothing. */
export function refuseDisabled(webhook: Pick<Webhook, "active">): void {
  if (!webhook.active) throw new AppError("conflict", "the webhook is disabled: enable it first");
}

/**
 * Tries a delivery again at once, whatever its state; this replaces the attempt that is scheduled (design.md, "Delivery
 * to a webhook"). Throws `conflict` when webhook, subscription or payload are gone, or the webhook is disabled.
 */
export async function retryDelivery(platform: Stores, delivery: Delivery): Promise<Delivery> {
  const [webhook, unsubscribed, payload] = await Promise.all([
    Webhooks(platform.mongo).findById(delivery.webhook_id, { active: 1 }).lean(),
    isUnsubscribed(platform, delivery),
    StoredEvents(platform.mongo).exists({ _id: delivery.emit_id }),
  ]);
  if (!webhook) throw new AppError("conflict", "the webhook was deleted");
  if (unsubscribed) throw new AppError("conflict", "the subscription was deleted");
  if (!payload) throw new AppError("conflict", "the event is no longer kept");
  refuseDisabled(webhook);
  const retried = await Deliveries(platform.mongo)
    .findOneAndUpdate(
      { _id: delivery._id },
      { $set: retryNow(platform), $inc: { round: 1 } },
      { returnDocument: "after" },
    )
    .lean<Delivery | null>();
  if (!retried) throw notFound("delivery");
  await enqueue(platform.queues, deliveries, {
    delivery_id: retried._id,
    webhook_id: retried.webhook_id,
    round: retried.round,
  });
  return retried;
}
