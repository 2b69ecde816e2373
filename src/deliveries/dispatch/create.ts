import { reaches } from "../../accounts/access.ts";
import { eventMs, eventScore } from "../../lib/event-id.ts";
import { derivedId } from "../../lib/ids.ts";
import type { Delivery } from "../../models/delivery.ts";
import type { StoredEvent } from "../../models/event.ts";
import { type Webhook, Webhooks } from "../../models/webhook.ts";
import type { Platform } from "../../platform.ts";
import { enqueueAll } from "../../queues/define-queue.ts";
import { deliveries } from "../../queues/deliveries.ts";
import { countDrop } from "../../store/drops.ts";
import { insertNew } from "../attempt/record.ts";

type Stores = Pick<Platform, "mongo" | "redis" | "keys" | "counters" | "queues" | "clock" | "config">;

/** Deliveries recorded and enqueued in one go, so that any number of listeners costs the same each. */
const CHUNK = 500;

export interface Listener {
  subscriptionId: string;
  webhookId: string;
  /** The subscription's owner, who must still reach the webhook. */
  ownerId: string;
}

/**
 * Records one delivery for each listener and enqueues it. Safe to repeat: ids are derived from emit id and subscription,
 * so what exists stays as it is, and a job for something already done is void (design.md, guarantees 1 and 2). What is
 * not delivered on purpose is counted: `webhook-disabled` is kept as failed, so that it can be recovered; a webhook
 * that is gone or out of reach leaves nothing.
 */
export async function createDeliveries(
  platform: Stores,
  { event, listeners }: { event: StoredEvent; listeners: Listener[] },
): Promise<void> {
  for (let at = 0; at < listeners.length; at += CHUNK) {
    await createSome(platform, event, listeners.slice(at, at + CHUNK));
  }
}

async function createSome(platform: Stores, event: StoredEvent, listeners: Listener[]): Promise<void> {
  const webhooks = await Webhooks(platform.mongo)
    .find({ _id: { $in: listeners.map(listener => listener.webhookId) } }, { owner_id: 1, active: 1 })
    .lean();
  const byId = new Map(webhooks.map(webhook => [webhook._id, webhook]));
  const rows: Delivery[] = [];
  for (const listener of listeners) {
    const webhook = byId.get(listener.webhookId);
    if (webhook && (await reaches(platform, listener.ownerId, webhook.owner_id))) {
      rows.push(newDelivery(platform, { ...event, id: event._id }, listener.subscriptionId, webhook));
    }
  }
  const inserted = await insertNew(platform, rows);
  const disabled = inserted.filter(row => row.state === "failed").length;
  await countDrop(platform, event.emitter_id, "webhook-disabled", disabled);
  await countDrop(platform, event.emitter_id, "listener-absent", listeners.length - rows.length);
  await enqueueAll(
    platform.queues,
    deliveries,
    // Those that existed too: an earlier try may have ended between the two steps.
    rows
      .filter(row => row.state === "pending")
      .map(row => ({ delivery_id: row._id, webhook_id: row.webhook_id, round: row.round })),
  );
}

/** The delivery's id: the same for the same event and subscription, whoever derives it. */
export const deliveryId = (event: { id: string; event_id: string }, subscriptionId: string): string =>
  derivedId("dlv", eventMs(event.event_id), event.id, subscriptionId);

/** A delivery that is due now, or has failed at once where its webhook is switched off. */
export function newDelivery(
  platform: Stores,
  event: { id: string; event_id: string; emitter_id: string; name: string },
  subscriptionId: string,
  webhook: Pick<Webhook, "_id" | "owner_id" | "active">,
): Delivery {
  const now = platform.clock();
  const { active } = webhook;
  return {
    _id: deliveryId(event, subscriptionId),
    webhook_id: webhook._id,
    owner_id: webhook.owner_id,
    subscription_id: subscriptionId,
    emitter_id: event.emitter_id,
    emit_id: event.id,
    event_id: event.event_id,
    event_name: event.name,
    event_score: eventScore(event.event_id) ?? 0,
    state: active ? "pending" : "failed",
    reason: active ? null : "webhook-disabled",
    round: 0,
    step: 0,
    trigger: "schedule",
    attempts: [],
    next_attempt_at_ms: active ? now : null,
    sweep_at_ms: active ? now + platform.config.sweepEveryMs : null,
    created_at: new Date(now),
    finished_at_ms: active ? null : now,
  };
}
