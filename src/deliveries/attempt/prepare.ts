import { type Connected, type SubscriberAccess, subscriberAccess } from "../../accounts/access.ts";
import type { Delivery, EndReason } from "../../models/delivery.ts";
import { type StoredEvent, StoredEvents } from "../../models/event.ts";
import { type Subscription, Subscriptions } from "../../models/subscription.ts";
import type { Webhook } from "../../models/webhook.ts";
import type { Stores } from "../../platform.ts";

/** What is true of a delivery at the moment its attempt is due. */
export interface DeliveryFacts {
  /** Null if it was deleted. */
  webhook: Webhook | null;
  /** Of the subscription's owner, to the webhook and to the emitter. */
  access: SubscriberAccess;
  /** False if the subscription was ended. */
  isSubscribed: boolean;
  /** JSON; undefined if the event is no longer kept. */
  payload: string | undefined;
  nowMs: number;
}

/** Why nothing is sent. */
export type UnsentReason = Exclude<EndReason, "exhausted" | "gone">;

/**
 * `end`: the delivery ends, and its record says why. `drop`: the same, but a delivery that has no record yet gets none,
 * since the webhook is gone or belongs to somebody else.
 */
export type Prepared =
  | { kind: "send"; webhook: Webhook; body: string }
  | { kind: "end" | "drop"; reason: UnsentReason };

/** Decides whether an attempt, the first or a later one, is sent, or why not (docs/states.md#delivery). Pure. */
export function prepare({ webhook, access, isSubscribed, payload, nowMs }: DeliveryFacts): Prepared {
  // What has expired is as good as deleted, which a sweep does soon.
  if (!webhook || (webhook.mcp && webhook.mcp.expires_at_ms <= nowMs)) {
    return { kind: "drop", reason: "webhook-deleted" };
  }
  if (!access.canUseListener) return { kind: "drop", reason: "access-lost" };
  if (!access.canReadEmitter) return { kind: "end", reason: "access-lost" };
  if (!isSubscribed) return { kind: "end", reason: "subscription-deleted" };
  if (!webhook.active) return { kind: "end", reason: "webhook-disabled" };
  if (payload === undefined) return { kind: "end", reason: "payload-gone" };
  return { kind: "send", webhook, body: payload };
}

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
