import type { Config } from "../config.ts";
import { invalidField } from "../lib/errors.ts";
import { durationMs, unixSeconds } from "../lib/time.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { Webhook } from "../models/webhook.ts";
import { FIRST_REVISION } from "../store/revisions.ts";

/** How deliveries to one webhook or destination are made; what is null or absent is as the installation has it. */
export interface DeliverySettings {
  max_in_flight?: number | null | undefined;
  rate_limit_per_second?: number | null | undefined;
  ordered?: boolean | undefined;
  retry_schedule?: readonly string[] | null | undefined;
  timeout_seconds?: number | null | undefined;
}

/** What a request to create a webhook or a destination says of it, whatever its kind. */
export interface NewFields extends DeliverySettings {
  ownerId: string;
  userId: string;
  name?: string | undefined;
  description?: string | undefined;
}

/** Returns the fields that a new webhook and a new destination have in common: active, and without a failure. */
export const newFields = (input: NewFields, nowMs: number) =>
  ({
    owner_id: input.ownerId,
    user_id: input.userId,
    name: input.name || null,
    description: input.description || null,
    active: true,
    disabled_reason: null,
    failing_since_ms: null,
    max_in_flight: input.max_in_flight ?? null,
    rate_limit_per_second: input.rate_limit_per_second ?? null,
    ordered: input.ordered ?? false,
    retry_schedule: input.retry_schedule ?? null,
    timeout_seconds: input.timeout_seconds ?? null,
    created_at: unixSeconds(nowMs),
    updated_at: unixSeconds(nowMs),
    revision: FIRST_REVISION,
  }) satisfies Partial<Webhook>;

/**
 * Checks what a schema can't say of delivery settings: how long the waits of a retry schedule are, and that a time-out is within
 * the installation's bound. Throws `invalid` for the first field that is wrong.
 */
export function checkDeliverySettings(
  { deliveries }: Pick<Config, "deliveries">,
  { retry_schedule, timeout_seconds }: DeliverySettings,
  kind?: Webhook["kind"],
): void {
  if (retry_schedule) checkSchedule(retry_schedule);
  if (timeout_seconds === undefined || timeout_seconds === null) return;
  const wrong = (message: string) => invalidField("body", "timeout_seconds", message);
  if (kind === "action") throw wrong("an action has the time of a run (`run` in TIMEOUTS)");
  if (kind === "pull") throw wrong("nothing is sent to a destination of kind pull");
  const most = deliveries.longestTimeoutMs / 1000;
  if (timeout_seconds > most) {
    throw wrong(`must be at most ${most}, as this server is set up (\`longest-attempt\` in TIMEOUTS)`);
  }
}

function checkSchedule(schedule: readonly string[]): void {
  const waits = schedule.map(durationMs);
  const short = waits.findIndex(ms => ms < LIMITS.retryWaitMs.value);
  if (short >= 0) throw invalidField("body", `retry_schedule.${short}`, "must be at least 1s");
  const total = waits.reduce((sum, ms) => sum + ms, 0);
  if (total > LIMITS.retryScheduleMs.value) {
    throw invalidField("body", "retry_schedule", "must have waits of at most 7d altogether");
  }
}

/**
 * Returns how long one attempt may take. A time-out of its own that is above the installation's bound, which was lowered since, is
 * cut to it.
 */
export const timeoutMsOf = (
  { deliveries }: Pick<Config, "deliveries">,
  { timeout_seconds: own }: Pick<Webhook, "timeout_seconds">,
): number => (own ? Math.min(own * 1000, deliveries.longestTimeoutMs) : deliveries.timeoutMs);
