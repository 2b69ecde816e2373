import { Webhooks } from "../models/webhook.ts";
import type { Platform } from "../platform.ts";
import { mapPage, type Page, type PageRequest, pageOf } from "../store/page.ts";
import { presentWebhook } from "./present.ts";
import type { WebhookView } from "./schema.ts";

/** Returns a page of an account's webhooks, newest first, without its destinations, whose ids come before. */
export async function listWebhooks(
  platform: Pick<Platform, "mongo" | "redis" | "keys" | "clock" | "config">,
  ownerId: string,
  page: PageRequest,
): Promise<Page<WebhookView>> {
  const webhooks = { owner_id: ownerId, _id: { $gte: "wh_" } };
  const found = await pageOf(Webhooks(platform.mongo), webhooks, page, {
    countCache: { redis: platform.redis, key: platform.keys.listCount(ownerId, "webhooks") },
  });
  return mapPage(found, webhook => presentWebhook(platform, webhook));
}
