import { notFound } from "../lib/errors.ts";
import { unixSeconds } from "../lib/unix-seconds.ts";
import { type Webhook, Webhooks } from "../models/webhook.ts";
import type { Platform } from "../platform.ts";
import { enqueueDrain } from "../queues/enqueue-drain.ts";
import { checkWebhookUrl } from "./check-webhook-url.ts";
import { encryptHeaders } from "./custom-headers.ts";
import { lostSecrets } from "./lost-secrets.ts";
import { presentWebhook } from "./present.ts";
import type { UpdatedWebhook, WebhookChanges } from "./schema.ts";

/**
 * Changes the given fields of a webhook and returns it. Enabling it clears `disabled_reason` and `failing_since`; a
 * different url clears `failing_since`, and that of another server the headers that are not given again. Pending deliveries go to the url that is set when each attempt is made. Throws
 * `invalid` for the url or a header, and `not-found` if the webhook has been deleted since.
 */
export async function updateWebhook(
  platform: Pick<Platform, "mongo" | "clock" | "routing" | "secrets" | "config" | "queues">,
  webhook: Webhook,
  changes: WebhookChanges,
): Promise<UpdatedWebhook> {
  const { url, name, description, active, headers, ...deliverySettings } = changes;
  const isMoved = url !== undefined && url !== webhook.url;
  const given = { url, secrets: headers === undefined ? [] : ["headers"] };
  // Whether it has any now or not: another request may be about to set them.
  const isLost = lostSecrets({ url: webhook.url, secrets: ["headers"] }, given).length > 0;
  const set: Partial<Webhook> = {
    ...(url !== undefined && { url: checkWebhookUrl(platform.config, "body", url) }),
    ...(name !== undefined && { name: name || null }),
    ...(description !== undefined && { description: description || null }),
    ...(active !== undefined && { active, disabled_reason: null }),
    ...deliverySettings,
    ...((headers !== undefined || isLost) && encryptHeaders(platform.secrets, headers ?? {})),
    ...((active || isMoved) && { failing_since_ms: null }),
    updated_at: unixSeconds(platform.clock()),
  };
  const updated = await Webhooks(platform.mongo)
    .findOneAndUpdate({ _id: webhook._id }, { $set: set }, { returnDocument: "after" })
    .lean<Webhook | null>();
  if (!updated) throw notFound("webhook");
  await platform.routing.invalidate([webhook.owner_id]);
  // Deliveries that wait for their order must now be sent on their own, or the other way round.
  if (changes.ordered !== undefined) await enqueueDrain(platform, webhook);
  const secrets_removed = isLost && webhook.header_names.length > 0 ? ["headers"] : [];
  return { ...presentWebhook(platform, updated), secrets_removed };
}
