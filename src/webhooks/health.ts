import type { Platform } from "../platform.ts";
import { type Webhook, Webhooks } from "./model.ts";

type Stores = Pick<Platform, "mongo" | "clock" | "config">;

/** Notes that the endpoint works again. A working webhook costs no write. */
export async function noteSuccess(platform: Stores, webhook: Webhook): Promise<void> {
  if (webhook.failing_since_ms === null) return;
  await Webhooks(platform.mongo).updateOne({ _id: webhook._id }, { $set: { failing_since_ms: null } });
}

/**
 * Notes a failed attempt; a webhook that only failed for `config.deliveries.disableAfterMs` is disabled, with the
 * reason shown to its owner (design.md, "Delivery to a webhook"). Time counts and not the number of failures: a busy
 * webhook collects many in a short outage.
 */
export async function noteFailure(platform: Stores, webhook: Webhook): Promise<void> {
  const now = platform.clock();
  if (webhook.failing_since_ms === null) {
    await Webhooks(platform.mongo).updateOne(
      { _id: webhook._id, failing_since_ms: null },
      { $set: { failing_since_ms: now } },
    );
    return;
  }
  const { disableAfterMs } = platform.config.deliveries;
  if (now - webhook.failing_since_ms < disableAfterMs) return;
  const since = new Date(webhook.failing_since_ms).toISOString();
  // Bound to the moment that was read, so that a success in between keeps the webhook on.
  await Webhooks(platform.mongo).updateOne(
    { _id: webhook._id, active: true, failing_since_ms: webhook.failing_since_ms },
    { $set: { active: false, disabled_reason: `every attempt has failed since ${since}` } },
  );
}

/** Disables a webhook whose endpoint answered 410: it asked not to be called again. */
export async function disableGone(platform: Stores, webhook: Webhook): Promise<void> {
  await Webhooks(platform.mongo).updateOne(
    // An owner may have changed the url while the old one answered.
    { _id: webhook._id, active: true, url: webhook.url },
    { $set: { active: false, disabled_reason: "the endpoint answered 410 Gone" } },
  );
}
