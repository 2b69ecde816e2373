import { type Webhook, Webhooks } from "../models/webhook.ts";
import type { Platform } from "../platform.ts";

type Deps = Pick<Platform, "mongo" | "clock" | "config" | "routing">;

/** Warns the owner of a failing webhook that it will be disabled; both fields are null if it is not failing. */
export interface DisableWarning {
  /** Unix milliseconds; a failure after this time disables the webhook. */
  willBeDisabledAtMs: number | null;
  notice: string | null;
}

/**
 * Returns when a failing webhook will be disabled, and a notice once half of the time until then has passed. A notice
 * after the first failure would appear at every restart of an endpoint.
 */
export function disableWarning(
  platform: Pick<Platform, "clock" | "config">,
  webhook: Pick<Webhook, "active" | "failing_since_ms" | "kind">,
): DisableWarning {
  const { failing_since_ms: since, active, kind } = webhook;
  if (since === null || !active) return { willBeDisabledAtMs: null, notice: null };
  const { disableAfterMs } = platform.config.deliveries;
  const willBeDisabledAtMs = since + disableAfterMs;
  if (platform.clock() - since < disableAfterMs / 2) return { willBeDisabledAtMs, notice: null };
  const [from, at] = [since, willBeDisabledAtMs].map(ms => new Date(ms).toISOString());
  const notice = `every attempt has failed since ${from}; a failure after ${at} disables this ${kind ? "destination" : "webhook"}`;
  return { willBeDisabledAtMs, notice };
}

/**
 * Records that the endpoint works again, in `webhook` as well. Costs no write if it worked before. Other processes see
 * the change when they next read the webhook, seconds later, which is soon enough for a limit of days.
 */
export async function noteSuccess(platform: Deps, webhook: Webhook): Promise<void> {
  if (webhook.failing_since_ms === null) return;
  webhook.failing_since_ms = null;
  await Webhooks(platform.mongo).updateOne({ _id: webhook._id }, { $set: { failing_since_ms: null } });
}

/**
 * Records a failed attempt. A webhook without a success for `config.deliveries.disableAfterMs` is disabled, and its
 * owner sees the reason (docs/states.md#webhook-health). Time counts, not the number of failures, because a busy
 * webhook has many of those in a short outage.
 */
export async function noteFailure(platform: Deps, webhook: Webhook): Promise<void> {
  const now = platform.clock();
  if (webhook.failing_since_ms === null) {
    webhook.failing_since_ms = now;
    await Webhooks(platform.mongo).updateOne(
      // The owner may have changed the url since; the failure of the old url must not count for the new one.
      { _id: webhook._id, url: webhook.url, failing_since_ms: null },
      { $set: { failing_since_ms: now } },
    );
    return;
  }
  const { disableAfterMs } = platform.config.deliveries;
  if (now - webhook.failing_since_ms < disableAfterMs) return;
  const since = new Date(webhook.failing_since_ms).toISOString();
  // Only if `failing_since_ms` has not changed, so that a success in between keeps the webhook enabled.
  await Webhooks(platform.mongo).updateOne(
    { _id: webhook._id, active: true, failing_since_ms: webhook.failing_since_ms },
    { $set: { active: false, disabled_reason: `every attempt has failed since ${since}` } },
  );
  await platform.routing.invalidate([webhook.owner_id]);
}

/** Disables a webhook whose endpoint returned 410 Gone, which means that it must not be called again. */
export async function disableGone(platform: Deps, webhook: Webhook): Promise<void> {
  await Webhooks(platform.mongo).updateOne(
    // The owner may have changed the url since, and only the old one is gone.
    { _id: webhook._id, active: true, url: webhook.url },
    { $set: { active: false, disabled_reason: "the endpoint returned 410 Gone" } },
  );
  await platform.routing.invalidate([webhook.owner_id]);
}
