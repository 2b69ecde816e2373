import { canAccess } from "../../accounts/access.ts";
import { AppError } from "../../lib/errors.ts";
import { eventMs } from "../../lib/event-id.ts";
import type { Delivery } from "../../models/delivery.ts";
import { StoredEvents } from "../../models/event.ts";
import { Subscriptions } from "../../models/subscription.ts";
import type { Webhook } from "../../models/webhook.ts";
import { isSubscriptionEnded } from "../../subscriptions/ended.ts";
import { traceField } from "../../tracing/trace-context.ts";
import { makeAttempt, type RetryOptions } from "../attempt/attempt.ts";
import { type DeliveryFacts, prepare } from "../attempt/prepare.ts";
import { endDelivery, recordAttempt } from "../attempt/record.ts";
import type { DeliveryDeps, LogFields } from "./deps.ts";

/** An event is stored while its first attempts are made, and MongoDB may have been away since. Milliseconds. */
const STORED_LATE_MS = 60_000;

export interface DueDelivery {
  delivery: Delivery;
  webhook: Webhook | null;
  /** The generation of the job that makes the attempt. */
  generation: number;
  signal: AbortSignal | undefined;
  options: RetryOptions;
}

/**
 * Makes the attempt that is due for a pending delivery: prepare → send → decide → record. `isFailing` says what the result
 * means for the webhook's health; undefined if nothing was sent. Throws `unavailable` if a store is away.
 */
export async function attemptDelivery(
  platform: DeliveryDeps,
  due: DueDelivery,
): Promise<{ fields: LogFields; isFailing?: boolean }> {
  const { delivery, generation, signal, options } = due;
  const prepared = prepare(await loadFacts(platform, due));
  if (prepared.kind !== "send") {
    const ageMs = platform.clock() - delivery.created_at.getTime();
    if (prepared.reason === "payload-gone" && ageMs < STORED_LATE_MS) {
      throw new AppError("unavailable", "the event is not stored yet");
    }
    await endDelivery(platform, delivery, prepared.reason);
    return { fields: { result: prepared.reason } };
  }
  const { webhook, body } = prepared;
  const message = {
    id: delivery._id,
    eventId: delivery.event_id,
    emitterId: delivery.emitter_id,
    eventName: delivery.event_name,
    attempt: (delivery.attempts.at(-1)?.number ?? 0) + 1,
    body,
    trace: delivery.trace,
  };
  const { retry_index: retryIndex } = delivery;
  observeLateness(platform, delivery);
  const attempted = await makeAttempt(platform, { webhook, message, retryIndex }, signal, options);
  const recorded = await recordAttempt(platform, { ...attempted, delivery, generation });
  const { status, latencyMs, error } = attempted.response;
  const fields = {
    result: attempted.decision.kind,
    status,
    latency_ms: latencyMs,
    error,
    attempt_number: attempted.number,
    recorded,
    ...traceField(delivery.trace),
  };
  return { fields, isFailing: attempted.decision.kind !== "delivered" };
}

/** A delivery whose first attempt was parked or ordered counts from its event, a later attempt from when it was due. */
function observeLateness(platform: DeliveryDeps, delivery: Delivery): void {
  const now = platform.clock();
  if (delivery.attempts.length === 0) {
    const sinceEventMs = now - eventMs(delivery.event_id);
    platform.metrics.observe("event_first_attempt_seconds", sinceEventMs / 1000);
  } else {
    const lateMs = now - (delivery.next_attempt_at_ms ?? now);
    platform.metrics.observe("delivery_lateness_seconds", lateMs / 1000);
  }
}

async function loadFacts(platform: DeliveryDeps, { delivery, webhook }: DueDelivery): Promise<DeliveryFacts> {
  const [event, subscription] = await Promise.all([
    StoredEvents(platform.mongo).findById(delivery.emit_id, { event: 1 }).lean(),
    Subscriptions(platform.mongo).findById(delivery.subscription_id, { owner_id: 1 }).lean(),
  ]);
  return {
    webhook,
    // Without the subscription its owner is unknown; it went with its source, or was ended.
    hasAccess:
      !webhook || !subscription || (await canAccess(platform, subscription.owner_id, webhook.owner_id)),
    isSubscribed: subscription !== null || !(await isSubscriptionEnded(platform, delivery)),
    payload: event?.event,
  };
}
