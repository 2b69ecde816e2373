import { type Webhook, Webhooks } from "../models/webhook.ts";
import type { Platform } from "../platform.ts";

type Deps = Pick<Platform, "mongo" | "clock" | "config" | "routing">;

/** What a webhook's owner is told of the way to being disabled; both null while there is nothing to tell. */
export interface Outlook {
  /** Unix milliseconds; a failure after it disables the webhook. */
  willBeDisabledAtMs: number | null;
  notice: string | null;
}

/**
 * Tells of the coming end before it comes: the moment from the first failure on, in words once half of the time is over.
 * A notice at the first failure would be one for every restart of an endpoint.
 */
export function outlookOf(
  platform: Pick<Platform, "clock" | "config">,
  webhook: Pick<Webhook, "active" | "failing_since_ms">,
): Outlook {
  const { failing_since_ms: since, active } = webhook;
  if (since === null || !active) return { willBeDisabledAtMs: null, notice: null };
  const { disableAfterMs } = platform.config.deliveries;
  const willBeDisabledAtMs = since + disableAfterMs;
  if (platform.clock() - since < disableAfterMs / 2) return { willBeDisabledAtMs, notice: null };
  const [from, at] = [since, willBeDisabledAtMs].map(ms => new Date(ms).toISOString());
  const notice = `every attempt has failed since ${from}; a failure after ${at} disables this webhook`;
  return { willBeDisabledAtMs, notice };
}

/**
 * Notes that the endpoint works again, in `webhook` too. A working webhook costs no write. Other processes hear of it
 * when they read the webhook the next time, seconds later: what depends on it counts in days.
 */
export async function noteSuccess(platform: Deps, webhook: Webhook): Promise<void> {
  if (webhook.failing_since_ms === null) return;
  webhook.failing_since_ms = null;
  await Webhooks(platform.mongo).updateOne({ _id: webhook._id }, { $set: { failing_since_ms: null } });
}

/**
 * Notes a failed attempt; a webhook that only failed for `config.deliveries.disableAfterMs` is disabled, with the
 * reason shown to its owner (design.md, "Delivery to a webhook"). Time counts and not the number of failures: a busy
 * webhook collects many in a short outage.
 */
export async function noteFailure(platform: Deps, webhook: Webhook): Promise<void> {
  const now = platform.clock();
  if (webhook.failing_since_ms === null) {
    webhook.failing_since_ms = now;
    await Webhooks(platform.mongo).updateOne(
      // An owner may have changed the url while the old one failed: the new one begins with a clean record.
      { _id: webhook._id, url: webhook.url, failing_since_ms: null },
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
  await platform.routing.invalidate();
}

/** Disables a webhook whose endpoint answered 410: it asked not to be called again. */
export async function disableGone(platform: Deps, webhook: Webhook): Promise<void> {
  await Webhooks(platform.mongo).updateOne(
    // As above: it was the old url that answered.
    { _id: webhook._id, active: true, url: webhook.url },
    { $set: { active: false, disabled_reason: "the endpoint answered 410 Gone" } },
  );
  await platform.routing.invalidate();
}
