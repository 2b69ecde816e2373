import { type NewAlert, raiseAlert } from "../alerts/raise.ts";
import { recordOwnActionIn } from "../audit/record.ts";
import { issueDetails } from "../issues/cause.ts";
import { listenerKindOf, type Webhook, Webhooks } from "../models/webhook.ts";
import type { Observed, Stores } from "../platform.ts";
import { transaction } from "../store/connections/mongo.ts";

/** An agent's callback is given up sooner: its next refresh, mostly within a day, tries it again. */
const MCP_DISABLE_AFTER_MS = 24 * 3_600_000;

/** Returns for how long every attempt to a listener may fail until a further failure disables it. */
export const disableAfterMsOf = (
  { config }: Pick<Stores, "config">,
  { _id }: Pick<Webhook, "_id">,
): number =>
  isAgents(_id)
    ? Math.min(MCP_DISABLE_AFTER_MS, config.deliveries.disableAfterMs)
    : config.deliveries.disableAfterMs;

const isAgents = (id: string): boolean => listenerKindOf(id) === "mcp_subscription";

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
  platform: Stores,
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
 * Records that the endpoint works again, in `webhook` as well, and says so to those who were alerted. Costs no write if it
 * worked before. Other processes see the change when they next read the webhook, seconds later, which is soon enough for a
 * limit of days.
 */
export async function noteSuccess(platform: Stores & Observed, webhook: Webhook): Promise<void> {
  const { failing_since_ms: sinceMs } = webhook;
  if (sinceMs === null) return;
  webhook.failing_since_ms = null;
  const { matchedCount } = await Webhooks(platform.mongo).updateOne(
    { _id: webhook._id, alerted: null },
    { $set: { failing_since_ms: null } },
  );
  if (matchedCount === 1) return;
  await transaction(platform.mongo, async session => {
    const before = await Webhooks(platform.mongo)
      .findOneAndUpdate(
        // Of several processes, one finds it so.
        { _id: webhook._id, alerted: { $ne: null } },
        { $set: { failing_since_ms: null, alerted: null } },
        { session, returnDocument: "before" },
      )
      .lean<Webhook | null>();
    if (before?.alerted && before.alerted.since_ms === before.failing_since_ms) {
      await raiseAlert(platform, recoveredAlert(before, before.alerted.since_ms), session);
    }
  });
}

/**
 * Records a failed attempt, and alerts the owner once the webhook has failed for a while (docs/alerts.md). A webhook without
 * a success for `config.deliveries.disableAfterMs` is disabled, and its owner sees the reason
 * (docs/states.md#webhook-health). Time counts, not the number of failures, because a busy webhook has many of those in a
 * short outage. `cause`: that of the attempt, which the alert names.
 */
export async function noteFailure(
  platform: Stores & Observed,
  webhook: Webhook,
  cause: string | null = null,
): Promise<void> {
  const now = platform.clock();
  const { failing_since_ms: sinceMs } = webhook;
  if (sinceMs === null) {
    webhook.failing_since_ms = now;
    await Webhooks(platform.mongo).updateOne(
      // The owner may have changed the url since; the failure of the old url must not count for the new one.
      { _id: webhook._id, url: webhook.url, failing_since_ms: null },
      { $set: { failing_since_ms: now } },
    );
    return;
  }
  if (now - sinceMs < disableAfterMsOf(platform, webhook)) {
    await alertOfFailures(platform, webhook, { sinceMs, now, cause });
    return;
  }
  const since = new Date(sinceMs).toISOString();
  // Only if `failing_since_ms` has not changed, so that a success in between keeps the webhook enabled.
  const ifStill = { failing_since_ms: sinceMs };
  await disable(platform, webhook, ifStill, { reason: `every attempt has failed since ${since}`, cause });
}

/** Disables a webhook whose endpoint returned 410 Gone, which means that it must not be called again. */
export async function disableGone(
  platform: Stores & Observed,
  webhook: Webhook,
  cause: string | null = null,
): Promise<void> {
  // The owner may have changed the url since, and only the old one is gone.
  await disable(platform, webhook, { url: webhook.url }, { reason: "the endpoint returned 410 Gone", cause });
}

/** Why the platform disables a webhook, and the cause of the attempt that led to it. */
interface DisabledBecause {
  reason: string;
  cause: string | null;
}

/** Disables an active webhook for which `ifStill` holds, alerts its owner, and says so in the audit log: all of it, or nothing. */
async function disable(
  platform: Stores & Observed,
  webhook: Webhook,
  ifStill: Partial<Webhook>,
  why: DisabledBecause,
): Promise<void> {
  await transaction(platform.mongo, async session => {
    const { modifiedCount } = await Webhooks(platform.mongo).updateOne(
      { _id: webhook._id, active: true, ...ifStill },
      { $set: { active: false, disabled_reason: why.reason, disabled_at_ms: platform.clock() } },
      { session },
    );
    if (modifiedCount === 1) {
      await raiseAlert(platform, disabledAlert(webhook, why, platform.clock()), session);
      await recordOwnActionIn(session, platform, {
        ...{ ownerId: webhook.owner_id, action: `${kindOf(webhook)}.disabled`, reason: why.reason },
        thing: { id: webhook._id, name: webhook.name },
      });
    }
  });
  await platform.routing.invalidate([webhook.owner_id]);
}

/** Returns the alert that is due after so long a time of failures; 0 for none. An agent undoes its end by itself: no second one. */
function stageAfter({ config }: Stores, { _id }: Webhook, failedMs: number): HealthStage | 0 {
  if (!isAgents(_id) && failedMs >= config.deliveries.disableAfterMs / 2) return 2;
  return failedMs >= config.alerts.webhookFailingAfterMs ? 1 : 0;
}

/**
 * Alerts the owner of a failing webhook, once for each stage of an episode, however many processes see it fail. Never throws:
 * the attempt was made, and an alert that can't be raised now is raised at the next failure.
 */
async function alertOfFailures(
  platform: Stores & Observed,
  webhook: Webhook,
  { sinceMs, now, cause }: { sinceMs: number; now: number; cause: string | null },
): Promise<void> {
  const stage = stageAfter(platform, webhook, now - sinceMs);
  const before = webhook.alerted ?? null;
  if (stage === 0 || (before?.since_ms === sinceMs && before.stage >= stage)) return;
  const alerted = { since_ms: sinceMs, stage };
  // Also of an alert that another process has raised: this one need not ask again.
  webhook.alerted = alerted;
  try {
    await transaction(platform.mongo, async session => {
      const { modifiedCount } = await Webhooks(platform.mongo).updateOne(
        {
          _id: webhook._id,
          active: true,
          failing_since_ms: sinceMs,
          $or: [{ "alerted.since_ms": { $ne: sinceMs } }, { "alerted.stage": { $lt: stage } }],
        },
        { $set: { alerted } },
        { session },
      );
      if (modifiedCount === 1) {
        await raiseAlert(platform, failingAlert(platform, webhook, { ...alerted, cause }), session);
      }
    });
  } catch (error) {
    webhook.alerted = before;
    platform.log.warn({ webhook_id: webhook._id, err: error }, "an alert of a webhook can't be raised yet");
  }
}

/** 1: failing for a while. 2: about to be disabled. */
type HealthStage = 1 | 2;

type Shown = Pick<Webhook, "_id" | "owner_id" | "name">;

const timeOf = (ms: number) => new Date(ms).toISOString();
/** An action is a destination here. */
const kindOf = ({ _id }: Pick<Shown, "_id">) => {
  const kind = listenerKindOf(_id);
  return kind === "action" ? "destination" : kind;
};
/** Returns how alerts call a webhook or destination: not by its url, which may hold a secret. */
export const describeListener = ({ _id, name }: Pick<Shown, "_id" | "name">): string => {
  const kind = kindOf({ _id });
  const what = kind === "mcp_subscription" ? "subscription of an agent" : kind;
  return name ? `${what} "${name}" (${_id})` : `${what} ${_id}`;
};
const about = ({ _id, owner_id, name }: Shown) => ({ ownerId: owner_id, subject: { id: _id, name } });

/** Returns the alert of a webhook that fails since a moment. */
function failingAlert(
  platform: Stores,
  webhook: Shown,
  { since_ms, stage, cause }: { since_ms: number; stage: HealthStage; cause: string | null },
): NewAlert {
  const disabledAt = since_ms + disableAfterMsOf(platform, webhook);
  const disables = isAgents(webhook._id) ? "disables it until its agent subscribes again" : "disables it";
  const failed = `every attempt to deliver to ${describeListener(webhook)} has failed since ${timeOf(since_ms)}`;
  return {
    ...about(webhook),
    type: stage === 1 ? "webhook.failing" : "webhook.will_be_disabled",
    sinceMs: since_ms,
    message: `${failed}; a failure after ${timeOf(disabledAt)} ${disables}`,
    details: {
      failing_since_ms: since_ms,
      will_be_disabled_at_ms: disabledAt,
      ...issueDetails(webhook._id, cause),
    },
  };
}

/** Returns the alert of a webhook that the platform disabled now. */
const disabledAlert = (webhook: Shown, { reason, cause }: DisabledBecause, nowMs: number): NewAlert => ({
  ...about(webhook),
  type: "webhook.disabled",
  sinceMs: nowMs,
  message: `${describeListener(webhook)} was disabled: ${reason}; nothing is sent to it until ${
    isAgents(webhook._id) ? "its agent subscribes again" : "you enable it"
  }`,
  details: { reason, ...issueDetails(webhook._id, cause) },
});

/** Returns the alert of a webhook that works again. */
const recoveredAlert = (webhook: Shown, sinceMs: number): NewAlert => ({
  ...about(webhook),
  type: "webhook.recovered",
  sinceMs,
  message: `${describeListener(webhook)} works again; it had failed since ${timeOf(sinceMs)}`,
  details: { failing_since_ms: sinceMs },
});
