import { shownOrg } from "../accounts/access.ts";
import { unixSeconds } from "../lib/time.ts";
import type { Webhook } from "../models/webhook.ts";
import type { Stores } from "../platform.ts";
import { presentLastTimes } from "../store/last-times.ts";
import { revisionOf } from "../store/revisions.ts";
import { disableWarning } from "./health.ts";
import type { WebhookView } from "./schema.ts";
import type { Signing } from "./signing-keys.ts";

/** Returns how a webhook signs now, by its current key. */
export const signingOf = ({ signing_keys: [current] }: Pick<Webhook, "signing_keys">): Signing =>
  current?.public_key === undefined ? "hmac" : "ed25519";

/** Returns a webhook as its owner sees it: without signing keys and without the values of custom headers. */
export function presentWebhook(platform: Stores, webhook: Webhook): WebhookView {
  const { willBeDisabledAtMs, notice } = disableWarning(platform, webhook);
  const { _id, user_id, name, description, url, active, disabled_reason, header_names } = webhook;
  return {
    id: _id,
    user_id,
    ...shownOrg(webhook.owner_id),
    name,
    description,
    url,
    active,
    disabled_reason,
    failing_since: webhook.failing_since_ms === null ? null : unixSeconds(webhook.failing_since_ms),
    will_be_disabled_at: willBeDisabledAtMs === null ? null : unixSeconds(willBeDisabledAtMs),
    notice,
    // A webhook that was stored before these settings existed does not have them.
    max_in_flight: webhook.max_in_flight ?? null,
    rate_limit_per_second: webhook.rate_limit_per_second ?? null,
    ordered: webhook.ordered ?? false,
    retry_schedule: webhook.retry_schedule ? [...webhook.retry_schedule] : null,
    timeout_seconds: webhook.timeout_seconds ?? null,
    format: webhook.format ?? "json",
    ...presentLastTimes(webhook),
    header_names,
    signing: signingOf(webhook),
    public_key: webhook.signing_keys[0]?.public_key ?? null,
    created_at: webhook.created_at,
    updated_at: webhook.updated_at,
    revision: revisionOf(webhook),
  };
}

/** The webhook of the API's examples. */
export const exampleWebhook: WebhookView = {
  id: "wh_0CjBAEdF3kWq9RtZ",
  user_id: "u_0CjB8sXp1LmN4vYb",
  name: "orders",
  description: null,
  url: "https://example.com/hooks/orders",
  active: true,
  disabled_reason: null,
  failing_since: null,
  will_be_disabled_at: null,
  notice: null,
  max_in_flight: null,
  rate_limit_per_second: null,
  ordered: false,
  retry_schedule: null,
  timeout_seconds: null,
  format: "json",
  last_event_at: 1_700_000_000,
  last_success_at: 1_700_000_000,
  last_error_at: null,
  header_names: [],
  signing: "hmac",
  public_key: null,
  created_at: 1_700_000_000,
  updated_at: 1_700_000_000,
  revision: 1,
};
