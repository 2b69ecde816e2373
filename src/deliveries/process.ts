import { StoredEvents } from "../events/model.ts";
import type { Platform } from "../platform.ts";
import type { NextAttempt } from "../queues/deliveries.ts";
import { type Webhook, Webhooks } from "../webhooks/model.ts";
import { makeAttempt, type RetryOptions } from "./attempt.ts";
import { enterPlace, type Limited, leavePlace } from "./in-flight.ts";
import { Deliveries, type Delivery } from "./model.ts";
import type { Outcome } from "./outcome.ts";
import { endDelivery, recordAttempt } from "./record.ts";
import { isUnsubscribed } from "./unsubscribed.ts";

export type DeliveryPlatform = Pick<
  Platform,
  "mongo" | "redis" | "keys" | "queues" | "places" | "counters" | "egress" | "secrets" | "config" | "clock"
>;

/** Fields of the job's one log line. Never a url, which may hold a secret, nor a header. */
type Line = Record<string, unknown>;

/**
 * Works one job: makes the attempt that is due, unless the job is void or the webhook has no place free, and records
 * and schedules what follows (design.md, "Delivery to a webhook"). Whatever it throws is a failure of ours, and the
 * job may be given out again: the attempt is then repeated under the same `webhook-id`.
 */
export async function processDelivery(
  platform: DeliveryPlatform,
  { job, signal }: { job: NextAttempt; signal?: AbortSignal },
  options: RetryOptions = {},
): Promise<Line> {
  const [delivery, webhook] = await Promise.all([
    // Of the attempts the last tells the number; all fifty would be read for nothing.
    Deliveries(platform.mongo)
      .findById(job.delivery_id, { attempts: { $slice: -1 } })
      .lean<Delivery>(),
    Webhooks(platform.mongo).findById(job.webhook_id).lean(),
  ]);
  const about = { delivery_id: job.delivery_id, webhook_id: job.webhook_id, event_id: delivery?.event_id };
  const due = delivery !== null && isDue(delivery, job, platform.clock());
  let limited: Limited = webhook ?? ABSENT;
  if (due && webhook?.active && !(await enterPlace(platform, webhook, job))) {
    return { ...about, result: "waiting" };
  }
  try {
    if (!due) return { ...about, result: "void" };
    const payload = await deliverable(platform, delivery, webhook);
    if ("reason" in payload) {
      await endDelivery(platform, delivery, payload.reason);
      return { ...about, result: payload.reason };
    }
    const result = await attempt(platform, { delivery, job, signal, options, ...payload });
    const isFailing = result.outcome.kind !== "delivered";
    limited = { ...limited, failing_since_ms: isFailing ? platform.clock() : null };
    return { ...about, ...result.line };
  } finally {
    // Also by a job that never entered: it may have been called in, and those behind it wait for its place.
    await leavePlace(platform, limited, job);
  }
}

/** Those that wait for a webhook that is gone are called in, to end. */
const ABSENT: Limited = { failing_since_ms: null, max_in_flight: null };

/**
 * A job of an earlier round was replaced. One of a later round waited in line (see `enterPlace`), and is void too when
 * another attempt was made meanwhile and the next one is not due yet.
 */
function isDue(delivery: Delivery, job: NextAttempt, nowMs: number): boolean {
  if (delivery.state !== "pending" || job.round < delivery.round) return false;
  return job.round === delivery.round || (delivery.next_attempt_at_ms ?? 0) <= nowMs;
}

type Payload =
  | { webhook: Webhook; body: string }
  | { reason: "webhook-deleted" | "webhook-disabled" | "subscription-deleted" | "payload-gone" };

/** What there is to send and where, or why the delivery ends without another attempt. */
async function deliverable(
  platform: DeliveryPlatform,
  delivery: Delivery,
  webhook: Webhook | null,
): Promise<Payload> {
  if (!webhook) return { reason: "webhook-deleted" };
  if (!webhook.active) return { reason: "webhook-disabled" };
  const [event, unsubscribed] = await Promise.all([
    StoredEvents(platform.mongo).findById(delivery.emit_id, { event: 1 }).lean(),
    isUnsubscribed(platform, delivery),
  ]);
  if (unsubscribed) return { reason: "subscription-deleted" };
  return event ? { webhook, body: event.event } : { reason: "payload-gone" };
}

interface Attempting {
  delivery: Delivery;
  job: NextAttempt;
  webhook: Webhook;
  body: string;
  signal: AbortSignal | undefined;
  options: RetryOptions;
}

async function attempt(
  platform: DeliveryPlatform,
  { delivery, job, webhook, body, signal, options }: Attempting,
): Promise<{ outcome: Outcome; line: Line }> {
  const message = {
    id: delivery._id,
    eventId: delivery.event_id,
    emitterId: delivery.emitter_id,
    eventName: delivery.event_name,
    attempt: (delivery.attempts.at(-1)?.number ?? 0) + 1,
    body,
  };
  const made = await makeAttempt(platform, { webhook, message, step: delivery.step }, signal, options);
  const recorded = await recordAttempt(platform, { ...made, delivery, round: job.round });
  const { status, latencyMs, error } = made.answer;
  const line = {
    result: made.outcome.kind,
    status,
    latency_ms: latencyMs,
    error,
    attempt_number: made.number,
    recorded,
  };
  return { outcome: made.outcome, line };
}
