import { subscriberAccess } from "../../accounts/access.ts";
import { hopsField } from "../../lib/hops.ts";
import { derivedId, eventMs, eventScore } from "../../lib/ids.ts";
import type { Delivery } from "../../models/delivery.ts";
import type { StoredEvent } from "../../models/event.ts";
import { type Webhook, Webhooks } from "../../models/webhook.ts";
import type { Stores, Working } from "../../platform.ts";
import { drainWhenDue, dueFields } from "../attempt/next-attempt.ts";
import { prepare } from "../attempt/prepare.ts";
import { countUnsent, endedDelivery, insertNew, type Unsent } from "../attempt/record.ts";

/** Deliveries recorded at a time, so that any number of listeners costs the same each. */
const CHUNK = 500;

export interface DispatchListener {
  subscriptionId: string;
  webhookId: string;
  /** The subscription's owner, who must still have access to the webhook and to the emitter. */
  ownerId: string;
  /** The subscription's function, by its hash; absent without one. */
  functionHash?: string | undefined;
}

/** What identifies an event to its deliveries. */
export interface DispatchedEvent {
  /** The stored event's id. */
  id: string;
  event_id: string;
  emitter_id: string;
  name: string;
  /** Its place in a trace. */
  trace?: string;
  /** How many listeners led to it. */
  hops?: number;
}

/**
 * Records one pending delivery for each listener, which is due now, and has its webhook drained. Safe to repeat: ids are derived
 * from emit id and subscription, so an existing delivery stays as it is (docs/design.md#guarantee-2).
 * A delivery that is not sent is recorded as ended or dropped, and counted.
 */
export async function createDeliveries(
  platform: Working,
  { event, listeners }: { event: StoredEvent; listeners: DispatchListener[] },
): Promise<void> {
  for (let at = 0; at < listeners.length; at += CHUNK) {
    await createSome(platform, event, listeners.slice(at, at + CHUNK));
  }
}

async function createSome(
  platform: Working,
  event: StoredEvent,
  listeners: DispatchListener[],
): Promise<void> {
  await platform.routing.refresh();
  const webhooks = await Webhooks(platform.mongo)
    .find({ _id: { $in: listeners.map(listener => listener.webhookId) } })
    .lean<Webhook[]>();
  const byId = new Map(webhooks.map(webhook => [webhook._id, webhook]));
  const pending: Delivery[] = [];
  const ended: Unsent[] = [];
  const dropped: Unsent[] = [];
  for (const listener of listeners) {
    const webhook = byId.get(listener.webhookId) ?? null;
    const access = await subscriberAccess(platform, {
      subscriber: listener.ownerId,
      emitter: event.owner_id,
      listener: webhook?.owner_id ?? listener.ownerId,
    });
    const delivery = newDelivery(platform, { ...event, id: event._id }, listener, webhook);
    const nowMs = platform.clock();
    const prepared = prepare({ webhook, access, isSubscribed: true, payload: event.event, nowMs });
    if (prepared.kind === "send") pending.push(delivery);
    else (prepared.kind === "end" ? ended : dropped).push({ delivery, reason: prepared.reason });
  }
  const rows = [...pending, ...ended.map(one => endedDelivery(one, platform.clock()))];
  const inserted = new Set((await insertNew(platform, rows)).map(({ _id }) => _id));
  const newlyEnded = ended.filter(({ delivery }) => inserted.has(delivery._id));
  await countUnsent(platform, [...newlyEnded, ...dropped]);
  // Those that existed too: an earlier try may have ended between the two steps.
  await drainWhenDue(platform, pending);
}

/** The delivery's id: the same for the same event and subscription, in every process. */
export const deliveryId = (event: { id: string; event_id: string }, subscriptionId: string): string =>
  derivedId("dlv", eventMs(event.event_id), event.id, subscriptionId);

/** A pending delivery that is due now. `id`: its `deliveryId`, if that is known already. */
export function newDelivery(
  platform: Stores,
  event: DispatchedEvent,
  { subscriptionId, webhookId, ownerId, functionHash }: DispatchListener,
  webhook: Pick<Webhook, "owner_id"> | null,
  id = deliveryId(event, subscriptionId),
): Delivery {
  const now = platform.clock();
  return {
    _id: id,
    webhook_id: webhookId,
    owner_id: webhook?.owner_id ?? ownerId,
    subscription_id: subscriptionId,
    subscriber_id: ownerId,
    emitter_id: event.emitter_id,
    emit_id: event.id,
    event_id: event.event_id,
    event_name: event.name,
    event_score: eventScore(event.event_id) ?? 0,
    state: "pending",
    reason: null,
    generation: 0,
    retry_index: 0,
    trigger: "schedule",
    attempts: [],
    ...dueFields(platform, 0, now),
    created_at: new Date(now),
    finished_at_ms: null,
    ...(event.trace !== undefined && { trace: event.trace }),
    ...hopsField(event),
    ...(functionHash !== undefined && { function_hash: functionHash }),
  };
}
