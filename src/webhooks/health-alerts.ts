import type { NewAlert } from "../alerts/raise.ts";
import type { Webhook } from "../models/webhook.ts";
import type { Platform } from "../platform.ts";

/** 1: failing for a while. 2: about to be disabled. */
export type HealthStage = 1 | 2;

type Shown = Pick<Webhook, "_id" | "owner_id" | "name">;

const timeOf = (ms: number) => new Date(ms).toISOString();
/** Not its url, which may hold a secret. */
const nameOf = ({ _id, name }: Shown) => {
  const kind = _id.startsWith("wh_") ? "webhook" : "destination";
  return name ? `${kind} "${name}" (${_id})` : `${kind} ${_id}`;
};
const about = ({ _id, owner_id, name }: Shown) => ({ ownerId: owner_id, subject: { id: _id, name } });

/** Returns the alert of a webhook that fails since a moment. */
export function failingAlert(
  { config }: Pick<Platform, "config">,
  webhook: Shown,
  { since_ms, stage }: { since_ms: number; stage: HealthStage },
): NewAlert {
  const disabledAt = since_ms + config.deliveries.disableAfterMs;
  const failed = `every attempt to deliver to ${nameOf(webhook)} has failed since ${timeOf(since_ms)}`;
  return {
    ...about(webhook),
    type: stage === 1 ? "webhook.failing" : "webhook.will_be_disabled",
    sinceMs: since_ms,
    message: `${failed}; a failure after ${timeOf(disabledAt)} disables it`,
    details: { failing_since_ms: since_ms, will_be_disabled_at_ms: disabledAt },
  };
}

/** Returns the alert of a webhook that the platform disabled now. */
export const disabledAlert = (webhook: Shown, reason: string, nowMs: number): NewAlert => ({
  ...about(webhook),
  type: "webhook.disabled",
  sinceMs: nowMs,
  message: `${nameOf(webhook)} was disabled: ${reason}; nothing is sent to it until you enable it`,
  details: { reason },
});

/** Returns the alert of a webhook that works again. */
export const recoveredAlert = (webhook: Shown, sinceMs: number): NewAlert => ({
  ...about(webhook),
  type: "webhook.recovered",
  sinceMs,
  message: `${nameOf(webhook)} works again; it had failed since ${timeOf(sinceMs)}`,
  details: { failing_since_ms: sinceMs },
});
