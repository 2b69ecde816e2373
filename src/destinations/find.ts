import { type Destination, isDestination, type Webhook, Webhooks } from "../models/webhook.ts";
import type { Platform } from "../platform.ts";

/** Returns a destination, not a webhook, of one of these owners, otherwise null (docs/design.md#guarantee-6). */
async function findDestination(
  platform: Pick<Platform, "mongo">,
  id: string,
  owners: string[],
): Promise<Destination | null> {
  const found = await Webhooks(platform.mongo)
    .findOne({ _id: id, owner_id: { $in: owners } })
    .lean<Webhook | null>();
  return found && isDestination(found) ? found : null;
}

/** The access rule of routes whose path names a destination. */
export const ownDestination = { kind: "resource", what: "destination", load: findDestination } as const;
