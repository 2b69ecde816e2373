import { type Destination, Webhooks } from "../models/webhook.ts";
import type { Platform } from "../platform.ts";
import { mapPage, type Page, type PageRequest, pageOf } from "../store/page.ts";
import { presentDestination } from "./present.ts";
import type { DestinationView } from "./schema.ts";

/** Returns a page of an account's destinations, whose ids come before those of its webhooks: newest first of each prefix. */
export async function listDestinations(
  platform: Pick<Platform, "mongo" | "redis" | "keys" | "clock" | "config" | "secrets">,
  ownerId: string,
  page: PageRequest,
): Promise<Page<DestinationView>> {
  const destinations = { owner_id: ownerId, _id: { $lt: "wh_" } };
  const found = await pageOf(Webhooks(platform.mongo), destinations, page, {
    countCache: { redis: platform.redis, key: platform.keys.listCount(ownerId, "destinations") },
  });
  return mapPage(found, row => presentDestination(platform, row as Destination));
}
