import type { QueryFilter } from "mongoose";
import { firstIdAt } from "../lib/ids.ts";
import { Deliveries, type Delivery } from "../models/delivery.ts";
import type { Webhook } from "../models/webhook.ts";
import type { Platform } from "../platform.ts";
import { mapPage, type Page, type PageRequest, pageOf } from "../store/page.ts";
import { findWebhook } from "../webhooks/service.ts";
import type { DeliveryFilter, DeliveryView, DeliveryWithAttempts } from "./schema.ts";

/** A delivery as its owner sees it in lists. */
export function presentDelivery(delivery: Delivery): DeliveryView {
  const last = delivery.attempts.at(-1) ?? null;
  return {
    id: delivery._id,
    webhook_id: delivery.webhook_id,
    subscription_id: delivery.subscription_id,
    emitter_id: delivery.emitter_id,
    event_id: delivery.event_id,
    event_name: delivery.event_name,
    state: delivery.state,
    reason: delivery.reason,
    attempts_made: last?.number ?? 0,
    last_attempt: last,
    next_attempt_at_ms: delivery.next_attempt_at_ms,
    finished_at_ms: delivery.finished_at_ms,
    created_at: Math.floor(delivery.created_at.getTime() / 1000),
  };
}

/** One delivery with all attempts that are kept. */
export function presentWithAttempts(delivery: Delivery): DeliveryWithAttempts {
  return { ...presentDelivery(delivery), attempts: delivery.attempts };
}

/** The webhook that a path names, of one of these owners, or null. */
export const ownWebhook = findWebhook;

/** The delivery to a webhook of one of these owners, or null. */
export async function findDelivery(
  platform: Pick<Platform, "mongo">,
  id: string,
  owners: string[],
): Promise<Delivery | null> {
  return await Deliveries(platform.mongo)
    .findOne({ _id: id, owner_id: { $in: owners } })
    .lean<Delivery | null>();
}

/** Beside the webhook's other keys, so that it shares their slot on a cluster. */
const countKey = (keys: Platform["keys"], webhookId: string, filter: unknown[]) =>
  keys.listCount(webhookId, `deliveries-${filter.map(part => part ?? "").join("-")}`);

/** A webhook's deliveries, newest first, by state and by when their events were emitted. */
export async function listDeliveries(
  platform: Pick<Platform, "mongo" | "redis" | "keys">,
  webhook: Webhook,
  { state, since, until }: DeliveryFilter,
  page: PageRequest,
): Promise<Page<DeliveryView>> {
  const between = {
    ...(since !== undefined && { $gte: firstIdAt("dlv", since * 1000) }),
    ...(until !== undefined && { $lt: firstIdAt("dlv", (until + 1) * 1000) }),
  };
  const filter: QueryFilter<Delivery> = {
    webhook_id: webhook._id,
    ...(state && { state }),
    ...(Object.keys(between).length > 0 && { _id: between }),
  };
  const found = await pageOf(Deliveries(platform.mongo), filter, page, {
    // A list shows the last attempt only; fifty of them a row would be megabytes.
    projection: { attempts: { $slice: -1 } },
    countCache: {
      redis: platform.redis,
      key: countKey(platform.keys, webhook._id, [state, since, until]),
    },
  });
  return mapPage(found, presentDelivery);
}
