import { subscriberAccess } from "../../accounts/access.ts";
import { Deliveries, type Delivery } from "../../models/delivery.ts";
import { StoredEvents } from "../../models/event.ts";
import { type Subscription, Subscriptions } from "../../models/subscription.ts";
import type { Webhook } from "../../models/webhook.ts";
import type { Calling, Working } from "../../platform.ts";
import type { FirstAttempts } from "../../queues/deliveries.ts";
import { isSubscriptionEnded } from "../../subscriptions/find.ts";
import { lookUpWebhooks } from "../../webhooks/find.ts";
import { prepare } from "../attempt/prepare.ts";
import type { Unsent } from "../attempt/record.ts";
import { type DispatchListener, deliveryId, newDelivery } from "../dispatch/create.ts";
import type { Due } from "./shared.ts";

export interface LoadedFirstAttempts {
  toSend: Due[];
  /** Deliveries that end without an attempt, and are recorded. */
  ended: Unsent[];
  /** Deliveries that are dropped without a record. */
  dropped: Unsent[];
  /** Deliveries to ordered webhooks, which a drain job sends. */
  ordered: Delivery[];
  /** Those webhooks, also if an earlier try recorded the deliveries. */
  orderedWebhooks: Set<Webhook>;
}

/**
 * Loads what a job of first attempts needs and prepares each attempt, as things are now: a webhook may have been deleted or
 * disabled since, a subscription ended, and an attempt made already if the job was started before.
 */
export async function loadFirstAttempts(
  platform: Working & Calling,
  job: FirstAttempts,
  isRepeat: boolean,
): Promise<LoadedFirstAttempts> {
  const all = job.events.flatMap(event =>
    event.listeners.map(([subscriptionId, webhookId, ownerId]) => ({
      id: deliveryId(event, subscriptionId),
      event,
      listener: {
        subscriptionId,
        webhookId,
        ownerId,
        functionHash: event.functions?.[subscriptionId],
      },
    })),
  );
  await platform.routing.refresh(job.routing_version);
  const webhookIds = all.map(({ listener }) => listener.webhookId);
  const subscriptionIds = all.map(({ listener }) => listener.subscriptionId);
  const [webhooks, subscriptions, bodies, recorded] = await Promise.all([
    lookUpWebhooks(platform, webhookIds),
    findSubscriptions(platform, subscriptionIds),
    findBodies(platform, job),
    isRepeat || job.is_redispatch
      ? findRecorded(
          platform,
          all.map(({ id }) => id),
        )
      : new Set<string>(),
  ]);
  const loaded: LoadedFirstAttempts = {
    toSend: [],
    ended: [],
    dropped: [],
    ordered: [],
    orderedWebhooks: new Set(),
  };
  for (const { id, event, listener } of all) {
    const { subscriptionId, webhookId, ownerId } = listener;
    const webhook = webhooks.get(webhookId) ?? null;
    if (webhook?.active && webhook.ordered) loaded.orderedWebhooks.add(webhook);
    if (recorded.size > 0 && recorded.has(id)) continue;
    const subscription = { subscription_id: subscriptionId, emitter_id: event.emitter_id };
    const prepared = prepare({
      webhook,
      access: await subscriberAccess(platform, {
        subscriber: ownerId,
        // A job of an older version does not name its account: access was asked when it was made.
        emitter: job.account_id ?? ownerId,
        listener: webhook?.owner_id ?? ownerId,
      }),
      isSubscribed: subscriptions.has(subscriptionId) || !(await isSubscriptionEnded(platform, subscription)),
      payload: event.body ?? bodies.get(event.id),
    });
    if (prepared.kind !== "send") {
      const delivery = newDelivery(platform, event, listener, webhook, id);
      const list = prepared.kind === "end" ? loaded.ended : loaded.dropped;
      list.push({ delivery, reason: prepared.reason });
    } else if (prepared.webhook.ordered) {
      loaded.ordered.push(newDelivery(platform, event, listener, webhook, id));
    } else {
      const { webhook: found, body } = prepared;
      const functionHash = functionOf(subscriptions.get(subscriptionId), listener);
      loaded.toSend.push({
        deliveryId: id,
        event,
        listener,
        webhook: found,
        body,
        functionHash,
        row: undefined,
      });
    }
  }
  return loaded;
}

/** A subscription that was deleted together with its emitter has the function that it had. */
const functionOf = (subscription: KnownSubscription | undefined, { functionHash }: DispatchListener) =>
  (subscription ? subscription.function_hash : functionHash) ?? null;

type KnownSubscription = Pick<Subscription, "owner_id" | "function_hash">;

/** The subscriptions that still exist. */
function findSubscriptions(
  platform: Working & Calling,
  ids: string[],
): Promise<Map<string, KnownSubscription>> {
  return platform.routing.lookUp(
    "subscription",
    ids,
    async missing => {
      const found = await Subscriptions(platform.mongo)
        .find({ _id: { $in: missing } }, { owner_id: 1, function_hash: 1 })
        .lean();
      return new Map(found.map(subscription => [subscription._id, subscription]));
    },
    ({ owner_id }) => [owner_id],
  );
}

/** The deliveries that an earlier job has recorded. */
async function findRecorded(platform: Working & Calling, ids: string[]): Promise<Set<string>> {
  const found = await Deliveries(platform.mongo)
    .find({ _id: { $in: ids } }, { _id: 1 })
    .lean();
  return new Set(found.map(({ _id }) => _id));
}

async function findBodies(platform: Working & Calling, job: FirstAttempts): Promise<Map<string, string>> {
  const missing = job.events.filter(event => event.body === undefined).map(event => event.id);
  if (missing.length === 0) return new Map();
  const stored = await StoredEvents(platform.mongo)
    .find({ _id: { $in: missing } }, { event: 1 })
    .lean();
  return new Map(stored.map(({ _id, event }) => [_id, event]));
}
