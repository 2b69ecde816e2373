/**
 * The life of a retry, in one place (docs/states.md#delivery draws it):
 *
 * 1. An attempt is sent (`send.ts`). Any 2xx delivers. A 410 fails the delivery and disables the webhook; of an agent's
 *    subscription, a 410 or 413 fails the delivery only.
 * 2. Any other result is a failed attempt. `decide` takes the next step of the schedule, which is the webhook's as it is now, so
 *    that a changed one decides from then on: after the first failed attempt the first step, and so on, each ±20 %. `Retry-After` replaces the jitter, clamped to between the step and
 *    2 h more; a 429 or a time-out waits at least 60 s. When the steps are used up, the delivery has failed: `exhausted`.
 * 3. The result is recorded in MongoDB together with `next_attempt_at_ms`, `generation + 1` and `retry_index + 1`
 *    (`record.ts`), and then a `drain` of the webhook is enqueued for that moment. A crash between the two leaves
 *    a pending delivery without a drain, which the sweep finds (`deliveries/sweep.ts`). A retry that is far away
 *    (`next-attempt.ts`) gets no drain until the sweep finds that it is due.
 * 4. The drain loads what is due at the webhook, with webhook, subscription and payload: a webhook that was disabled or
 *    deleted since then ends the delivery (`prepare.ts`).
 * 5. A webhook whose every attempt failed for 5 days (`TIMEOUTS`) is disabled (`webhooks/health.ts`).
 * 6. A manual retry sets `retry_index` to 0, which restarts the schedule, and starts a new generation, which supersedes
 *    the scheduled attempt (`deliveries/manual-retry.ts`).
 *
 * A store that is away is not a failed attempt: the job is repeated, and nothing above moves on.
 */
import type { EndpointResponse } from "../../destinations/message.ts";
import { durationMs } from "../../lib/time.ts";
import type { EndReason } from "../../models/delivery.ts";
import type { Webhook } from "../../models/webhook.ts";

/** A 429 and a time-out wait at least this long, because the endpoint is busy already. */
export const BUSY_FLOOR_MS = 60_000;
/** How much longer than the step an endpoint may ask to be left alone: it may be wrong about itself. */
const MAX_EXTRA_MS = 2 * 3_600_000;
/** Each step is spread by this share both ways, so that deliveries that failed together do not come back together. */
const JITTER = 0.2;
/** The longest wait at the head of an ordered webhook, where one delivery holds up all behind it (docs/decisions/0011-order-and-rates.md). */
const ORDERED_MAX_STEP_MS = 3_600_000;

/** What an attempt means for its delivery. */
export type Decision =
  | { kind: "delivered" }
  | { kind: "retry"; delayMs: number }
  | { kind: "failed"; reason: Extract<EndReason, "gone" | "exhausted"> };

export interface RetryRules {
  scheduleMs: readonly number[];
  /** Attempts made since the schedule started, this one included. */
  retryIndex: number;
  busyFloorMs: number;
  /** In [0, 1). */
  random: () => number;
  nowMs: number;
  /** What says that the event is not to be sent again. */
  goneStatuses?: readonly number[];
}

const GONE = [410];

/**
 * Returns the steps of a webhook's schedule in milliseconds: its own, or else the installation's. Those of an ordered webhook are
 * shorter.
 */
export function scheduleOf(
  installationMs: readonly number[],
  { ordered, retry_schedule: own }: Pick<Webhook, "ordered" | "retry_schedule">,
): readonly number[] {
  const scheduleMs = own?.map(durationMs) ?? installationMs;
  return ordered ? scheduleMs.map(ms => Math.min(ms, ORDERED_MAX_STEP_MS)) : scheduleMs;
}

/** Decides what follows from an attempt (docs/design.md#delivery-to-a-webhook). Pure. */
export function decide(
  { status, retryAfter, timedOut }: Pick<EndpointResponse, "status" | "retryAfter" | "timedOut">,
  { nowMs, goneStatuses = GONE, ...rules }: RetryRules,
): Decision {
  if (status !== null && status >= 200 && status < 300) return { kind: "delivered" };
  if (status !== null && goneStatuses.includes(status)) return { kind: "failed", reason: "gone" };
  const delayMs = nextDelayMs({
    ...rules,
    retryAfterMs: parseRetryAfter(retryAfter, nowMs),
    isBusy: status === 429 || timedOut,
  });
  return delayMs === null ? { kind: "failed", reason: "exhausted" } : { kind: "retry", delayMs };
}

/** Milliseconds that a `Retry-After` asks for, in seconds or as an HTTP date; null if it is absent or malformed. */
export function parseRetryAfter(text: string | null, nowMs: number): number | null {
  if (text === null) return null;
  const trimmed = text.trim();
  if (/^[0-9]{1,9}$/.test(trimmed)) return Number(trimmed) * 1000;
  // An HTTP date starts with the name of a day; `Date.parse` alone accepts much that is not a date, such as `-5`.
  const at = /^[A-Za-z]{3,9},? /.test(trimmed) ? Date.parse(trimmed) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}

/** Milliseconds until the next attempt; null if the schedule is exhausted. */
export function nextDelayMs({
  scheduleMs,
  retryIndex,
  retryAfterMs,
  isBusy,
  busyFloorMs,
  random,
}: Omit<RetryRules, "nowMs" | "goneStatuses"> & { retryAfterMs: number | null; isBusy: boolean }):
  | number
  | null {
  const step = scheduleMs[retryIndex - 1];
  if (step === undefined) return null;
  const delayMs =
    retryAfterMs === null
      ? step * (1 - JITTER + 2 * JITTER * random())
      : Math.min(Math.max(retryAfterMs, step), step + MAX_EXTRA_MS);
  return Math.round(isBusy ? Math.max(delayMs, busyFloorMs) : delayMs);
}
