import { subscriberAccessNow } from "../../accounts/access.ts";
import { AppError } from "../../lib/errors.ts";
import { eventMs } from "../../lib/event-id.ts";
import type { Delivery } from "../../models/delivery.ts";
import type { Webhook } from "../../models/webhook.ts";
import { Snooze } from "../../queues/snooze.ts";
import { isSubscriptionEnded } from "../../subscriptions/ended.ts";
import { traceField } from "../../tracing/trace-context.ts";
import { type Attempted, failedAttempt, makeAttempt } from "../attempt/attempt.ts";
import { connectedBy } from "../attempt/connected-by.ts";
import { type DeliveryFacts, prepare } from "../attempt/prepare.ts";
import { endDelivery } from "../attempt/record.ts";
import type { AttemptReads } from "./attempt-reads.ts";
import type { AttemptTools } from "./attempt-tools.ts";
import type { DeliveryDeps, LogFields } from "./deps.ts";
import { FUNCTION_LATER_MS, type Transform, type Transformed } from "./transform.ts";

/** An event is stored while its first attempts are made, and MongoDB may have been away since. Milliseconds. */
const STORED_LATE_MS = 60_000;

export interface DueDelivery {
  delivery: Delivery;
  webhook: Webhook | null;
  /** The generation of the job that makes the attempt. */
  generation: number;
  signal: AbortSignal | undefined;
  /** Called once the endpoint has responded, before the attempt is recorded, with what that means for the webhook's health. */
  onResponse?: (isFailing: boolean) => void;
}

/**
 * Makes the attempt that is due for a pending delivery: prepare → send → decide → record. `isFailing` says what the result
 * means for the webhook's health; undefined if nothing was sent. Throws `unavailable` if a store is away.
 */
export async function attemptDelivery(
  platform: DeliveryDeps,
  due: DueDelivery,
  tools: AttemptTools,
): Promise<{ fields: LogFields; isFailing?: boolean }> {
  const { delivery, generation, signal } = due;
  const facts = await loadFacts(platform, due, tools.reads);
  const prepared = prepare(facts);
  if (prepared.kind !== "send") {
    const ageMs = platform.clock() - delivery.created_at.getTime();
    if (prepared.reason === "payload-gone" && ageMs < STORED_LATE_MS) {
      throw new AppError("unavailable", "the event is not stored yet");
    }
    await endDelivery(platform, delivery, prepared.reason);
    return { fields: { result: prepared.reason } };
  }
  const { webhook } = prepared;
  const startedAtMs = platform.clock();
  const number = (delivery.attempts.at(-1)?.number ?? 0) + 1;
  const { retry_index: retryIndex } = delivery;
  const transformed = await transformBody(due, prepared.body, facts, tools.transform);
  if (transformed.kind === "dropped") {
    await endDelivery(platform, delivery, "dropped-by-function");
    return { fields: { result: "dropped-by-function" } };
  }
  if (transformed.kind === "failed") {
    const unsendable = { number, retryIndex, startedAtMs, error: transformed.error };
    const attempted = failedAttempt(platform, webhook, unsendable, tools);
    const recorded = await tools.recordLater({ ...attempted, delivery, generation });
    return { fields: attemptFields(delivery, attempted, recorded) };
  }
  const { body } = transformed;
  const message = {
    id: delivery._id,
    eventId: delivery.event_id,
    emitterId: delivery.emitter_id,
    eventName: delivery.event_name,
    attempt: number,
    body,
    trace: delivery.trace,
    hops: delivery.hops,
  };
  observeLateness(platform, delivery);
  const attempted = await makeAttempt(platform, { webhook, message, retryIndex }, signal, tools);
  const isFailing = attempted.decision.kind !== "delivered";
  due.onResponse?.(isFailing);
  const recorded = await tools.recordLater({ ...attempted, delivery, generation });
  return { fields: attemptFields(delivery, attempted, recorded), isFailing };
}

function attemptFields(
  { trace }: Delivery,
  { response, decision, number }: Attempted,
  recorded: boolean,
): LogFields {
  const { status, latencyMs, error } = response;
  return {
    result: decision.kind,
    status,
    latency_ms: latencyMs,
    error,
    attempt_number: number,
    recorded,
    ...traceField(trace),
  };
}

/**
 * Returns what is sent in place of an event: what an earlier attempt has stored, or what the function makes of it now. Throws
 * Snooze if the function had no turn.
 */
async function transformBody(
  { delivery, signal }: DueDelivery,
  body: string,
  { functionHash, functionOwner }: LoadedFacts,
  transform: Transform,
): Promise<Exclude<Transformed, { kind: "later" }>> {
  if (functionHash === null && delivery.function_hash === undefined) return { kind: "send", body };
  const { _id, event_id, emitter_id, event_name, emit_id, subscription_id, webhook_id } = delivery;
  const event = { id: emit_id, event_id, emitter_id, name: event_name };
  const listener = { subscriptionId: subscription_id, webhookId: webhook_id, ownerId: functionOwner };
  const [transformed] = await transform([{ deliveryId: _id, event, listener, body, functionHash }], {
    mayBeStored: true,
    signal,
  });
  if (!transformed || transformed.kind === "later") {
    throw new Snooze(FUNCTION_LATER_MS, { result: "function-later" });
  }
  return transformed;
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

interface LoadedFacts extends DeliveryFacts {
  /** The function that the event goes through; null without one. */
  functionHash: string | null;
  /** The account whose function it is. */
  functionOwner: string;
}

async function loadFacts(
  platform: DeliveryDeps,
  { delivery, webhook }: DueDelivery,
  reads: AttemptReads,
): Promise<LoadedFacts> {
  const [event, subscription] = await Promise.all([
    reads.event(delivery.emit_id),
    reads.subscription(delivery.subscription_id),
  ]);
  return {
    webhook,
    access: await subscriberAccessNow(platform, connectedBy(delivery, subscription, event)),
    isSubscribed: subscription !== null || !(await isSubscriptionEnded(platform, delivery)),
    payload: event?.event,
    functionHash: (subscription ?? delivery).function_hash ?? null,
    functionOwner: (subscription ?? delivery).owner_id,
  };
}
