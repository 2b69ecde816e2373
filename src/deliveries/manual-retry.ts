import { subscriberAccessNow } from "../accounts/access.ts";
import { AppError, notFound } from "../lib/errors.ts";
import { Deliveries, type Delivery } from "../models/delivery.ts";
import { StoredEvents } from "../models/event.ts";
import { Subscriptions } from "../models/subscription.ts";
import { type Webhook, Webhooks } from "../models/webhook.ts";
import type { Working } from "../platform.ts";
import { isSubscriptionEnded } from "../subscriptions/find.ts";
import { requeue } from "./attempt/next-attempt.ts";
import { connectedBy } from "./attempt/prepare.ts";
import { noteChange } from "./attempt/record.ts";

/** Throws `conflict` for a disabled webhook, which would receive nothing. */
export function rejectDisabled(webhook: Pick<Webhook, "active">): void {
  if (!webhook.active) throw new AppError("conflict", "the webhook is disabled: enable it first");
}

/**
 * Retries a delivery now, whatever its state; this replaces the scheduled attempt (docs/design.md#delivery-to-a-webhook).
 * Throws `conflict` if webhook, subscription or payload are gone, the subscription's owner can't access the emitter or the
 * webhook any more (docs/design.md#guarantee-6), or the webhook is disabled.
 */
export async function retryDelivery(platform: Working, delivery: Delivery): Promise<Delivery> {
  const [webhook, isEnded, event, subscription] = await Promise.all([
    Webhooks(platform.mongo).findById(delivery.webhook_id, { active: 1 }).lean(),
    isSubscriptionEnded(platform, delivery),
    StoredEvents(platform.mongo).findById(delivery.emit_id, { owner_id: 1 }).lean(),
    Subscriptions(platform.mongo).findById(delivery.subscription_id, { owner_id: 1 }).lean(),
  ]);
  if (!webhook) throw new AppError("conflict", "the webhook was deleted");
  if (isEnded) throw new AppError("conflict", "the subscription was deleted");
  if (!event) throw new AppError("conflict", "the event is no longer kept");
  const access = await subscriberAccessNow(platform, connectedBy(delivery, subscription, event));
  if (!access.canReadEmitter || !access.canUseListener) {
    const which = access.canUseListener ? "emitter" : "webhook";
    throw new AppError("conflict", `the owner of the subscription can no longer access the ${which}`);
  }
  rejectDisabled(webhook);
  const { _id, webhook_id, owner_id } = delivery;
  await requeue(platform, [{ _id, webhook_id, owner_id }]);
  const retried = await Deliveries(platform.mongo).findById(_id).lean<Delivery | null>();
  if (!retried) throw notFound("delivery");
  noteChange(platform, retried);
  return retried;
}

/** Retries one of several deliveries now, and returns why that can't be done; null if it is. */
export async function whyNotRetried(platform: Working, delivery: Delivery): Promise<string | null> {
  try {
    await retryDelivery(platform, delivery);
    return null;
  } catch (error) {
    if (error instanceof AppError && (error.code === "conflict" || error.code === "not-found"))
      return error.message;
    throw error;
  }
}
