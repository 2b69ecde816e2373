import type { QueryFilter } from "mongoose";
import { firstIdAt } from "../lib/ids.ts";
import { Deliveries, type Delivery } from "../models/delivery.ts";
import type { Webhook } from "../models/webhook.ts";
import type { Platform } from "../platform.ts";
import { mapPage, type Page, type PageRequest, pageOf } from "../store/page.ts";
import { presentDelivery } from "./present.ts";
import type { DeliveryFilter, DeliveryView } from "./schema.ts";

/** The key has the hash tag of the webhook, like its other keys, so that they share one slot of a Redis Cluster. */
const countKey = (keys: Platform["keys"], webhookId: string, filter: unknown[]) =>
  keys.listCount(webhookId, `deliveries-${filter.map(part => part ?? "").join("-")}`);

/** Returns a page of a webhook's deliveries, newest first, filtered by state and by the time of their events. */
export async function listDeliveries(
  platform: Pick<Platform, "mongo" | "redis" | "keys">,
  webhook: Webhook,
  { state, since, until }: DeliveryFilter,
  page: PageRequest,
): Promise<Page<DeliveryView>> {
  const idRange = {
    ...(since !== undefined && { $gte: firstIdAt("dlv", since * 1000) }),
    ...(until !== undefined && { $lt: firstIdAt("dlv", (until + 1) * 1000) }),
  };
  const filter: QueryFilter<Delivery> = {
    webhook_id: webhook._id,
    ...(state && { state }),
    ...(Object.keys(idRange).length > 0 && { _id: idRange }),
  };
  const found = await pageOf(Deliveries(platform.mongo), filter, page, {
    // A list shows only the last attempt; all attempts of a page would be megabytes.
    projection: { attempts: { $slice: -1 } },
    countCache: {
      redis: platform.redis,
      key: countKey(platform.keys, webhook._id, [state, since, until]),
    },
  });
  return mapPage(found, presentDelivery);
}
