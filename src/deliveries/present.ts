import { unixSeconds } from "../lib/unix-seconds.ts";
import type { Delivery } from "../models/delivery.ts";
import type { DeliveryView, DeliveryWithAttempts } from "./schema.ts";

/** Returns a delivery as its owner sees it in lists: with its last attempt only. */
export function presentDelivery(delivery: Delivery): DeliveryView {
  const lastAttempt = delivery.attempts.at(-1) ?? null;
  return {
    id: delivery._id,
    webhook_id: delivery.webhook_id,
    subscription_id: delivery.subscription_id,
    emitter_id: delivery.emitter_id,
    event_id: delivery.event_id,
    event_name: delivery.event_name,
    state: delivery.state,
    reason: delivery.reason,
    attempts_made: lastAttempt?.number ?? 0,
    last_attempt: lastAttempt,
    next_attempt_at_ms: delivery.next_attempt_at_ms,
    finished_at_ms: delivery.finished_at_ms,
    created_at: unixSeconds(delivery.created_at.getTime()),
  };
}

/** Returns a delivery with all of its stored attempts, oldest first. */
export function presentWithAttempts(delivery: Delivery): DeliveryWithAttempts {
  return { ...presentDelivery(delivery), attempts: delivery.attempts };
}
