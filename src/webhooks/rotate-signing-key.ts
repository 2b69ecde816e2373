import { AppError } from "../lib/errors.ts";
import { unixSeconds } from "../lib/unix-seconds.ts";
import { type Webhook, Webhooks } from "../models/webhook.ts";
import type { Platform } from "../platform.ts";
import { presentWebhook } from "./present.ts";
import type { WebhookWithKey } from "./schema.ts";
import { newSigningKey, rotated } from "./signing-keys.ts";

type Deps = Pick<Platform, "mongo" | "clock" | "routing" | "secrets" | "config">;

/**
 * Replaces the signing key of a webhook and returns the new one, which can never be shown again. The old key also signs
 * for 24 more hours. Throws `conflict` if another request replaced the key in between, because the key returned by one
 * of the two requests would never sign.
 */
export async function rotateSigningKey(platform: Deps, webhook: Webhook): Promise<WebhookWithKey> {
  const signingKey = newSigningKey();
  const updated =
    (await replaceKey(platform, webhook, signingKey)) ??
    (await replaceResealed(platform, webhook, signingKey));
  if (!updated) throw new AppError("conflict", "the signing key was changed by another request");
  await platform.routing.invalidate([webhook.owner_id]);
  return { ...presentWebhook(platform, updated), signing_key: signingKey };
}

/** Returns the webhook with the new key; null if its key is stored in another form than it was read. */
async function replaceKey(
  { mongo, secrets, clock }: Deps,
  { _id, signing_keys: keys }: Webhook,
  signingKey: string,
): Promise<Webhook | null> {
  const now = clock();
  const signing_keys = rotated(keys, secrets.seal(signingKey), now);
  return await Webhooks(mongo)
    .findOneAndUpdate(
      { _id, "signing_keys.0.sealed": keys[0]?.sealed ?? null },
      { $set: { signing_keys, updated_at: unixSeconds(now) } },
      { returnDocument: "after" },
    )
    .lean<Webhook | null>();
}

/** As `replaceKey`, if the key is the same, and `headwater secrets reseal` only encrypted it again; otherwise null. */
async function replaceResealed(platform: Deps, before: Webhook, signingKey: string): Promise<Webhook | null> {
  const { mongo, secrets } = platform;
  const webhook = await Webhooks(mongo).findById(before._id).lean<Webhook | null>();
  const [current] = webhook?.signing_keys ?? [];
  const [known] = before.signing_keys;
  if (!webhook || !current || !known || secrets.open(current.sealed) !== secrets.open(known.sealed))
    return null;
  return await replaceKey(platform, webhook, signingKey);
}
