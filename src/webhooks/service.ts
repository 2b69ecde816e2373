import { AppError, notFound } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { AutoSubscriptions, Subscriptions } from "../models/subscription.ts";
import { type Webhook, Webhooks } from "../models/webhook.ts";
import type { Platform } from "../platform.ts";
import { enqueueDrain } from "../queues/enqueue-drain.ts";
import { transaction } from "../store/mongo.ts";
import { mapPage, type Page, type PageRequest, pageOf } from "../store/page.ts";
import { cancelDeliveries } from "./cancel-deliveries.ts";
import { checkWebhookUrl } from "./check-webhook-url.ts";
import { checkCustomHeaders } from "./custom-headers.ts";
import { outlookOf } from "./health.ts";
import type { WebhookChanges, WebhookView, WebhookWithKey } from "./schema.ts";
import { newSigningKey, rotated } from "./signing-keys.ts";

type Deps = Pick<Platform, "mongo" | "clock">;
type Routing = Deps & Pick<Platform, "routing">;
type Sealing = Deps & Pick<Platform, "secrets" | "config">;

const seconds = (ms: number) => Math.floor(ms / 1000);

/** A webhook as its owner sees it: no keys, no values of headers. */
export function presentWebhook(platform: Pick<Platform, "clock" | "config">, webhook: Webhook): WebhookView {
  const { willBeDisabledAtMs, notice } = outlookOf(platform, webhook);
  const { _id, user_id, name, description, url, active, disabled_reason, header_names } = webhook;
  return {
    id: _id,
    user_id,
    name,
    description,
    url,
    active,
    disabled_reason,
    failing_since: webhook.failing_since_ms === null ? null : seconds(webhook.failing_since_ms),
    will_be_disabled_at: willBeDisabledAtMs === null ? null : seconds(willBeDisabledAtMs),
    notice,
    // Absent in what was stored before these settings came.
    max_in_flight: webhook.max_in_flight ?? null,
    rate_limit_per_second: webhook.rate_limit_per_second ?? null,
    ordered: webhook.ordered ?? false,
    header_names,
    created_at: webhook.created_at,
    updated_at: webhook.updated_at,
  };
}

function sealedHeaders(platform: Pick<Platform, "secrets">, headers: Record<string, string>) {
  const checked = checkCustomHeaders(headers);
  const header_names = Object.keys(checked);
  return {
    headers: header_names.length === 0 ? null : platform.secrets.seal(JSON.stringify(checked)),
    header_names,
  };
}

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

/** Creates a webhook; its signing key is shown this once. Throws `invalid` naming the field (rest-api.md, 4.6). */
export async function createWebhook(platform: Sealing, given: NewWebhook): Promise<WebhookWithKey> {
  const signingKey = newSigningKey();
  const now = platform.clock();
  const webhook: Webhook = {
    _id: newId("wh", now),
    owner_id: given.ownerId,
    user_id: given.userId,
    name: given.name || null,
    description: given.description || null,
    url: checkWebhookUrl(platform.config, "query", given.url),
    active: true,
    disabled_reason: null,
    signing_keys: [{ sealed: platform.secrets.seal(signingKey), expires_at_ms: null }],
    ...sealedHeaders(platform, given.headers ?? {}),
    failing_since_ms: null,
    max_in_flight: given.max_in_flight ?? null,
    rate_limit_per_second: given.rate_limit_per_second ?? null,
    ordered: given.ordered ?? false,
    created_at: seconds(now),
    updated_at: seconds(now),
  };
  await Webhooks(platform.mongo).insertOne(webhook);
  return { ...presentWebhook(platform, webhook), signing_key: signingKey };
}

/** The webhook of one of these owners, or null: absent and not theirs are the same (design.md, guarantee 6). */
export async function findWebhook(
  platform: Pick<Platform, "mongo">,
  id: string,
  owners: string[],
): Promise<Webhook | null> {
  return await Webhooks(platform.mongo)
    .findOne({ _id: id, owner_id: { $in: owners } })
    .lean();
}

/** An owner's webhooks, newest first. */
export async function listWebhooks(
  platform: Pick<Platform, "mongo" | "redis" | "keys" | "clock" | "config">,
  ownerId: string,
  page: PageRequest,
): Promise<Page<WebhookView>> {
  const found = await pageOf(Webhooks(platform.mongo), { owner_id: ownerId }, page, {
    countCache: { redis: platform.redis, key: platform.keys.listCount(ownerId, "webhooks") },
  });
  return mapPage(found, webhook => presentWebhook(platform, webhook));
}

/**
 * Changes what is given and leaves the rest. Enabling forgets why it was disabled; another url starts with a clean
 * record. Deliveries under way go to the url that holds when they are made. Throws `invalid`, `not-found`.
 */
export async function updateWebhook(
  platform: Sealing & Routing & Pick<Platform, "queues">,
  webhook: Webhook,
  changes: WebhookChanges,
): Promise<WebhookView> {
  const { url, name, description, active, headers, ...pace } = changes;
  const moved = url !== undefined && url !== webhook.url;
  const set: Partial<Webhook> = {
    ...(url !== undefined && { url: checkWebhookUrl(platform.config, "body", url) }),
    ...(name !== undefined && { name: name || null }),
    ...(description !== undefined && { description: description || null }),
    ...(active !== undefined && { active, disabled_reason: null }),
    ...pace,
    ...(headers !== undefined && sealedHeaders(platform, headers ?? {})),
    ...((active || moved) && { failing_since_ms: null }),
    updated_at: seconds(platform.clock()),
  };
  const updated = await Webhooks(platform.mongo)
    .findOneAndUpdate({ _id: webhook._id }, { $set: set }, { returnDocument: "after" })
    .lean<Webhook | null>();
  if (!updated) throw notFound("webhook");
  await platform.routing.invalidate();
  // What waits in order goes its own way from now on, or the other way round.
  if (changes.ordered !== undefined) await enqueueDrain(platform, webhook._id, "order", 0);
  return presentWebhook(platform, updated);
}

/**
 * Deletes a webhook with the subscriptions that name it, all or none, and ends its pending deliveries quietly. Those
 * may be very many, so they stay out of the transaction: one that a crash left pending is cancelled when it is due.
 */
export async function deleteWebhook(platform: Routing, webhookId: string): Promise<void> {
  await transaction(platform.mongo, async session => {
    await Webhooks(platform.mongo).deleteOne({ _id: webhookId }, { session });
    await Subscriptions(platform.mongo).deleteMany({ listener_id: webhookId }, { session });
    await AutoSubscriptions(platform.mongo).deleteMany({ listener_id: webhookId }, { session });
  });
  await platform.routing.invalidate();
  await cancelDeliveries(platform, webhookId);
}

/**
 * Gives the webhook a new signing key, shown this once; the one before signs too for 24 hours. Throws `conflict` when
 * another rotation came in between, so that no caller holds a key that never signs.
 */
export async function rotateSigningKey(
  platform: Sealing & Routing,
  webhook: Webhook,
): Promise<WebhookWithKey> {
  const signingKey = newSigningKey();
  const now = platform.clock();
  const signing_keys = rotated(webhook.signing_keys, platform.secrets.seal(signingKey), now);
  const updated = await Webhooks(platform.mongo)
    .findOneAndUpdate(
      { _id: webhook._id, "signing_keys.0.sealed": webhook.signing_keys[0]?.sealed ?? null },
      { $set: { signing_keys, updated_at: seconds(now) } },
      { returnDocument: "after" },
    )
    .lean<Webhook | null>();
  if (!updated) throw new AppError("conflict", "the signing key was changed by another request");
  await platform.routing.invalidate();
  return { ...presentWebhook(platform, updated), signing_key: signingKey };
}
