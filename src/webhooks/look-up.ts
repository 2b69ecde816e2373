import { type Webhook, Webhooks } from "../models/webhook.ts";
import type { Platform } from "../platform.ts";

/** Returns webhooks by their ids, from the routing cache: as they are now, or were a moment ago. Absent ones are left out. */
export function lookUpWebhooks(
  platform: Pick<Platform, "mongo" | "routing">,
  ids: string[],
): Promise<Map<string, Webhook>> {
  return platform.routing.lookUp(
    "webhook",
    ids,
    async missing => {
      const found = await Webhooks(platform.mongo)
        .find({ _id: { $in: missing } })
        .lean<Webhook[]>();
      return new Map(found.map(webhook => [webhook._id, webhook]));
    },
    ({ owner_id }) => [owner_id],
  );
}
