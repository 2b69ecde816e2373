import { checkCount } from "../accounts/check-count.ts";
import { newId } from "../lib/ids.ts";
import { type Webhook, Webhooks } from "../models/webhook.ts";
import type { Platform } from "../platform.ts";
import { checkWebhookUrl } from "./check-webhook-url.ts";
import { encryptHeaders } from "./custom-headers.ts";
import { newFields } from "./new-fields.ts";
import { presentWebhook } from "./present.ts";
import type { WebhookWithKey } from "./schema.ts";
import { newSigningKey } from "./signing-keys.ts";

export interface NewWebhook {
  ownerId: string;
  userId: string;
  url: string;
  name?: string | undefined;
  description?: string | undefined;
  headers?: Record<string, string> | undefined;
  max_in_flight?: number | null | undefined;
  rate_limit_per_second?: number | null | undefined;
  ordered?: boolean | undefined;
}

/**
 * Creates a webhook and returns it with its signing key, which can never be shown again. Throws `invalid` for the url
 * or a header, and `limit-reached` (docs/rest-api.md#webhooks).
 */
export async function createWebhook(
  platform: Pick<Platform, "mongo" | "clock" | "routing" | "secrets" | "config">,
  input: NewWebhook,
): Promise<WebhookWithKey> {
  await checkCount(platform, input.ownerId, "webhooks");
  const signingKey = newSigningKey();
  const now = platform.clock();
  const webhook: Webhook = {
    _id: newId("wh", now),
    ...newFields(input, now),
    url: checkWebhookUrl(platform.config, "query", input.url),
    signing_keys: [{ sealed: platform.secrets.seal(signingKey), expires_at_ms: null }],
    ...encryptHeaders(platform.secrets, input.headers ?? {}),
  };
  await Webhooks(platform.mongo).insertOne(webhook);
  return { ...presentWebhook(platform, webhook), signing_key: signingKey };
}
