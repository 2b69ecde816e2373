import { type Connected, subscriberAccess } from "../../accounts/access.ts";
import type { Delivery } from "../../models/delivery.ts";
import { type StoredEvent, StoredEvents } from "../../models/event.ts";
import { type Subscription, Subscriptions } from "../../models/subscription.ts";
import type { Stores } from "../../platform.ts";

/** What must be read of a delivery to know whether it may be sent again. */
export type MaybeSendable = Pick<Delivery, "emit_id" | "subscription_id" | "subscriber_id" | "owner_id">;

/**
 * Returns those of these deliveries that may be sent again: their event is kept, and the subscription's owner can access its
 * emitter and the listener (docs/design.md#guarantee-6). `isSubscribed` is false if the subscription was deleted.
 */
export async function selectSendable<Row extends MaybeSendable>(
  platform: Stores,
  rows: Row[],
): Promise<{ row: Row; isSubscribed: boolean }[]> {
  const idsOf = (field: "emit_id" | "subscription_id") => [...new Set(rows.map(row => row[field]))];
  const [events, subscriptions] = await Promise.all([
    StoredEvents(platform.mongo)
      .find({ _id: { $in: idsOf("emit_id") } }, { owner_id: 1 })
      .lean(),
    Subscriptions(platform.mongo)
      .find({ _id: { $in: idsOf("subscription_id") } }, { owner_id: 1 })
      .lean(),
    platform.routing.refresh(),
  ]);
  const eventOf = new Map(events.map(event => [event._id, event]));
  const subscriptionOf = new Map(subscriptions.map(subscription => [subscription._id, subscription]));
  const sendable: { row: Row; isSubscribed: boolean }[] = [];
  for (const row of rows) {
    const event = eventOf.get(row.emit_id);
    if (!event) continue;
    const subscription = subscriptionOf.get(row.subscription_id);
    const access = await subscriberAccess(platform, connectedBy(row, subscription, event));
    if (access.canReadEmitter && access.canUseListener) {
      sendable.push({ row, isSubscribed: subscription !== undefined });
    }
  }
  return sendable;
}

/**
 * Returns the accounts that a delivery connects. Its subscription is null if it was deleted, perhaps with its emitter, and its
 * event if it is no longer kept: then nothing of the emitter's is left to be sent. A delivery of an earlier release does not
 * name its subscriber: without its subscription, access was asked at its first attempt only.
 */
export function connectedBy(
  { owner_id, subscriber_id }: Pick<Delivery, "owner_id" | "subscriber_id">,
  subscription: Pick<Subscription, "owner_id"> | null | undefined,
  event: Pick<StoredEvent, "owner_id"> | null | undefined,
): Connected {
  const subscriber = subscription?.owner_id ?? subscriber_id;
  if (subscriber === undefined) return { subscriber: owner_id, emitter: owner_id, listener: owner_id };
  return { subscriber, emitter: event?.owner_id ?? subscriber, listener: owner_id };
}
