import { reachesByDirectory } from "../../accounts/access.ts";
import { Deliveries, type Delivery } from "../../models/delivery.ts";
import { StoredEvents } from "../../models/event.ts";
import { Subscriptions } from "../../models/subscription.ts";
import { type Webhook, Webhooks } from "../../models/webhook.ts";
import type { FirstAttempts } from "../../queues/deliveries.ts";
import type { DropReason } from "../../store/drops.ts";
import { isUnsubscribed } from "../../subscriptions/ended.ts";
import { deliveryId, newDelivery } from "../dispatch/create.ts";
import type { DeliveryPlatform } from "./attempt-delivery.ts";

type Event = FirstAttempts["events"][number];

export interface ToSend {
  event: Event;
  subscriptionId: string;
  webhook: Webhook;
  body: string;
}

export interface Found {
  toSend: ToSend[];
  /** Deliveries that fail without an attempt. */
  failed: Delivery[];
  /** Deliveries to ordered webhooks, which are sent from their line. */
  inOrder: Delivery[];
  /** Those webhooks, also where an earlier try has recorded the deliveries. */
  orderedWebhooks: Set<string>;
  dropped: [emitterId: string, reason: DropReason, count: number][];
}

/**
 * What a job of first attempts has to do, as things are now: a webhook may be gone or disabled meanwhile, a
 * subscription ended, and an attempt made already, when the job was begun before.
 */
export async function findFirstAttempts(
  platform: DeliveryPlatform,
  job: FirstAttempts,
  isRepeat: boolean,
): Promise<Found> {
  const all = job.events.flatMap(event =>
    event.listeners.map(([subscriptionId, webhookId, ownerId]) => ({
      event,
      subscriptionId,
      webhookId,
      ownerId,
    })),
  );
  await platform.directory.refresh(job.as_of);
  const [webhooks, subscriptions, bodies, recorded] = await Promise.all([
    findWebhooks(
      platform,
      all.map(one => one.webhookId),
    ),
    findSubscriptions(
      platform,
      all.map(one => one.subscriptionId),
    ),
    findBodies(platform, job),
    isRepeat || job.again
      ? findRecorded(
          platform,
          all.map(one => deliveryId(one.event, one.subscriptionId)),
        )
      : new Set<string>(),
  ]);
  const found: Found = { toSend: [], failed: [], inOrder: [], orderedWebhooks: new Set(), dropped: [] };
  for (const { event, subscriptionId, webhookId, ownerId } of all) {
    const webhook = webhooks.get(webhookId);
    if (webhook?.active && webhook.ordered) found.orderedWebhooks.add(webhookId);
    if (recorded.size > 0 && recorded.has(deliveryId(event, subscriptionId))) continue;
    if (!webhook || !(await reachesByDirectory(platform, ownerId, webhook.owner_id))) {
      found.dropped.push([event.emitter_id, "listener-absent", 1]);
      continue;
    }
    const { emitter_id } = event;
    const isGone =
      !subscriptions.has(subscriptionId) &&
      (await isUnsubscribed(platform, { subscription_id: subscriptionId, emitter_id }));
    if (isGone) continue;
    const body = event.body ?? bodies.get(event.id);
    if (!webhook.active) {
      found.failed.push(newDelivery(platform, event, subscriptionId, webhook));
      found.dropped.push([emitter_id, "webhook-disabled", 1]);
    } else if (body === undefined) {
      const delivery = newDelivery(platform, event, subscriptionId, webhook);
      found.failed.push(withoutPayload(delivery, platform.clock()));
    } else if (webhook.ordered) {
      found.inOrder.push(newDelivery(platform, event, subscriptionId, webhook));
    } else {
      found.toSend.push({ event, subscriptionId, webhook, body });
    }
  }
  return found;
}

const withoutPayload = (delivery: Delivery, nowMs: number): Delivery => ({
  ...delivery,
  state: "failed",
  reason: "payload-gone",
  next_attempt_at_ms: null,
  sweep_at_ms: null,
  finished_at_ms: nowMs,
});

function findWebhooks(platform: DeliveryPlatform, ids: string[]): Promise<Map<string, Webhook>> {
  return platform.directory.lookUp("webhook", ids, async missing => {
    const found = await Webhooks(platform.mongo)
      .find({ _id: { $in: missing } })
      .lean<Webhook[]>();
    return new Map(found.map(webhook => [webhook._id, webhook]));
  });
}

/** Those of the subscriptions that exist. */
function findSubscriptions(platform: DeliveryPlatform, ids: string[]): Promise<Map<string, true>> {
  return platform.directory.lookUp("subscription", ids, async missing => {
    const found = await Subscriptions(platform.mongo)
      .find({ _id: { $in: missing } }, { _id: 1 })
      .lean();
    return new Map(found.map(({ _id }) => [_id, true]));
  });
}

/** Those of the deliveries that an earlier job has recorded. */
async function findRecorded(platform: DeliveryPlatform, ids: string[]): Promise<Set<string>> {
  const found = await Deliveries(platform.mongo)
    .find({ _id: { $in: ids } }, { _id: 1 })
    .lean();
  return new Set(found.map(({ _id }) => _id));
}

async function findBodies(platform: DeliveryPlatform, job: FirstAttempts): Promise<Map<string, string>> {
  const missing = job.events.filter(event => event.body === undefined).map(event => event.id);
  if (missing.length === 0) return new Map();
  const stored = await StoredEvents(platform.mongo)
    .find({ _id: { $in: missing } }, { event: 1 })
    .lean();
  return new Map(stored.map(({ _id, event }) => [_id, event]));
}
