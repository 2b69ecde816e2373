import { Deliveries, type Delivery } from "../models/delivery.ts";
import type { Platform } from "../platform.ts";

/** Returns a delivery of one of these owners, otherwise null (docs/design.md#guarantee-6). */
async function findDelivery(
  platform: Pick<Platform, "mongo">,
  id: string,
  owners: string[],
): Promise<Delivery | null> {
  return await Deliveries(platform.mongo)
    .findOne({ _id: id, owner_id: { $in: owners } })
    .lean<Delivery | null>();
}

/** The access rule of routes whose path names a delivery. */
export const ownDelivery = { kind: "resource", what: "delivery", load: findDelivery } as const;
