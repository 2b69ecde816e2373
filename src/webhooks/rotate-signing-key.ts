import { AppError } from "../lib/errors.ts";
import { unixSeconds } from "../lib/unix-seconds.ts";
import { type Webhook, Webhooks } from "../models/webhook.ts";
import type { Platform } from "../platform.ts";
import { presentWebhook } from "./present.ts";
import type { WebhookWithKey } from "./schema.ts";
import { newSigningKey, rotated } from "./signing-keys.ts";

/**
 * Replaces the signing key of a webhook and returns the new one, which can never be shown again. The old key also signs
 * for 24 more hours. Throws `conflict` if another request replaced the key in between, because the key returned by one
 * of the two requests would never sign.
 */
export async function rotateSigningKey(
  platform: Pick<Platform, "mongo" | "clock" | "routing" | "secrets" | "config">,
  webhook: Webhook,
): Promise<WebhookWithKey> {
  const signingKey = newSigningKey();
  const now = platform.clock();
  const signing_keys = rotated(webhook.signing_keys, platform.secrets.seal(signingKey), now);
  const updated = await Webhooks(platform.mongo)
    .findOneAndUpdate(
      { _id: webhook._id, "signing_keys.0.sealed": webhook.signing_keys[0]?.sealed ?? null },
      { $set: { signing_keys, updated_at: unixSeconds(now) } },
      { returnDocument: "after" },
    )
    .lean<Webhook | null>();
  if (!updated) throw new AppError("conflict", "the signing key was changed by another request");
  await platform.routing.invalidate([webhook.owner_id]);
  return { ...presentWebhook(platform, updated), signing_key: signingKey };
}
