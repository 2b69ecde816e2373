import { StoredEvents } from "../events/model.ts";
import type { Platform } from "../platform.ts";
import type { DeliveriesJob } from "../queues/deliveries.ts";
import { disableGone, noteFailure, noteSuccess } from "../webhooks/health.ts";
import { type Webhook, Webhooks } from "../webhooks/model.ts";
import { type Answer, deliver } from "./deliver.ts";
import { enterPlace, leavePlace } from "./in-flight.ts";
import { Deliveries, type Delivery } from "./model.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";
import { endDelivery, recordAttempt } from "./record.ts";
import { BUSY_FLOOR_MS } from "./schedule.ts";
import { isUnsubscribed } from "./unsubscribed.ts";

export type DeliveryPlatform = Pick<
  Platform,
  "mongo" | "redis" | "keys" | "queues" | "places" | "counters" | "egress" | "secrets" | "config" | "clock"
>;

export interface RetryOptions {
  /** Milliseconds that 429s and time-outs wait at least. */
  busyFloorMs?: number;
  random?: () => number;
}

/** Fields of the job's one log line. Never a url, which may hold a secret, nor a header. */
type Line = Record<string, unknown>;

/**
 * Works one job: makes the attempt that is due, unless the job is void or the webhook has no place free, and records
 * and schedules what follows (design.md, "Delivery to a webhook"). Whatever it throws is a failure of ours, and the
 * job may be given out again: the attempt is then repeated under the same `webhook-id`.
 */
export async function processDelivery(
  platform: DeliveryPlatform,
  { job, signal }: { job: DeliveriesJob; signal?: AbortSignal },
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
  let failing = (webhook?.failing_since_ms ?? null) !== null;
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
    failing = result.outcome.kind !== "delivered";
    return { ...about, ...result.line };
  } finally {
    // Also by a job that never entered: it may have been called in, and those behind it wait for its place.
    await leavePlace(platform, job, failing);
  }
}

/**
 * A job of an earlier round was replaced. One of a later round waited in line (see `enterPlace`), and is void too when
 * another attempt was made meanwhile and the next one is not due yet.
 */
function isDue(delivery: Delivery, job: DeliveriesJob, nowMs: number): boolean {
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
  job: DeliveriesJob;
  webhook: Webhook;
  body: string;
  signal: AbortSignal | undefined;
  options: RetryOptions;
}

async function attempt(
  platform: DeliveryPlatform,
  { delivery, job, webhook, body, signal, options }: Attempting,
): Promise<{ outcome: Outcome; line: Line }> {
  const number = (delivery.attempts.at(-1)?.number ?? 0) + 1;
  const startedAtMs = platform.clock();
  const message = {
    id: delivery._id,
    eventId: delivery.event_id,
    emitterId: delivery.emitter_id,
    eventName: delivery.event_name,
    attempt: number,
    body,
  };
  const answer = await deliver(platform, webhook, message, signal);
  const nowMs = platform.clock();
  const outcome = outcomeOf(answer, {
    scheduleMs: platform.config.deliveries.retryScheduleMs,
    step: delivery.step + 1,
    busyFloorMs: options.busyFloorMs ?? BUSY_FLOOR_MS,
    random: options.random ?? Math.random,
    nowMs,
  });
  // Before the record: who waits in line is called in by what the webhook's health says.
  await noteHealth(platform, webhook, answer, outcome);
  const recorded = await recordAttempt(platform, {
    delivery,
    job,
    number,
    startedAtMs,
    answer,
    outcome,
    nowMs,
  });
  platform.counters.add("deliveries_total", { outcome: outcome.kind });
  const { status, latencyMs, error } = answer;
  const line = {
    result: outcome.kind,
    status,
    latency_ms: latencyMs,
    error,
    attempt_number: number,
    recorded,
  };
  return { outcome, line };
}

function noteHealth(
  platform: DeliveryPlatform,
  webhook: Webhook,
  answer: Answer,
  outcome: Outcome,
): Promise<void> {
  if (outcome.kind === "delivered") return noteSuccess(platform, webhook);
  return answer.status === 410 ? disableGone(platform, webhook) : noteFailure(platform, webhook);
}
