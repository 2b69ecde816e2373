import { AppError } from "../../lib/errors.ts";
import type { Delivery } from "../../models/delivery.ts";
import { StoredEvents } from "../../models/event.ts";
import type { Webhook } from "../../models/webhook.ts";
import type { Platform } from "../../platform.ts";
import { isUnsubscribed } from "../../subscriptions/ended.ts";
import { makeAttempt, type RetryOptions } from "../attempt/attempt.ts";
import { endDelivery, recordAttempt } from "../attempt/record.ts";

export type DeliveryPlatform = Pick<
  Platform,
  | "mongo"
  | "redis"
  | "keys"
  | "queues"
  | "directory"
  | "places"
  | "counters"
  | "egress"
  | "secrets"
  | "config"
  | "clock"
>;

/** Fields of the job's one log line. Never a url, which may hold a secret, nor a header. */
export type Line = Record<string, unknown>;

export interface Pending {
  delivery: Delivery;
  webhook: Webhook | null;
  /** Of the job that makes the attempt. */
  round: number;
  signal: AbortSignal | undefined;
  options: RetryOptions;
}

/**
 * Makes the attempt that is due for a pending delivery, and records and schedules what follows; or ends it where there
 * is nothing to send any more. `isFailing` tells what that says of the webhook's health; undefined when nothing was sent.
 */
export async function attemptPending(
  platform: DeliveryPlatform,
  pending: Pending,
): Promise<{ line: Line; isFailing?: boolean }> {
  const { delivery, round, signal, options } = pending;
  const payload = await deliverable(platform, pending);
  if ("reason" in payload) {
    await endDelivery(platform, delivery, payload.reason);
    return { line: { result: payload.reason } };
  }
  const { webhook, body } = payload;
  const message = {
    id: delivery._id,
    eventId: delivery.event_id,
    emitterId: delivery.emitter_id,
    eventName: delivery.event_name,
    attempt: (delivery.attempts.at(-1)?.number ?? 0) + 1,
    body,
  };
  const made = await makeAttempt(platform, { webhook, message, step: delivery.step }, signal, options);
  const recorded = await recordAttempt(platform, { ...made, delivery, round });
  const { status, latencyMs, error } = made.answer;
  const line = {
    result: made.outcome.kind,
    status,
    latency_ms: latencyMs,
    error,
    attempt_number: made.number,
    recorded,
  };
  return { line, isFailing: made.outcome.kind !== "delivered" };
}

/** After an event's first attempt, the event itself; the job that stores it may wait for MongoDB in between. */
const STORED_WITHIN_MS = 60_000;

type Payload =
  | { webhook: Webhook; body: string }
  | { reason: "webhook-deleted" | "webhook-disabled" | "subscription-deleted" | "payload-gone" };

/** What there is to send and where, or why the delivery ends without another attempt. */
async function deliverable(platform: DeliveryPlatform, { delivery, webhook }: Pending): Promise<Payload> {
  if (!webhook) return { reason: "webhook-deleted" };
  if (!webhook.active) return { reason: "webhook-disabled" };
  const [event, unsubscribed] = await Promise.all([
    StoredEvents(platform.mongo).findById(delivery.emit_id, { event: 1 }).lean(),
    isUnsubscribed(platform, delivery),
  ]);
  if (unsubscribed) return { reason: "subscription-deleted" };
  if (event) return { webhook, body: event.event };
  // It is stored beside its first attempts, and MongoDB may have been away meanwhile.
  if (platform.clock() - delivery.created_at.getTime() < STORED_WITHIN_MS) {
    throw new AppError("unavailable", "the event is not stored yet");
  }
  return { reason: "payload-gone" };
}
