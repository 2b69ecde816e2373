import { organizationsOf } from "../../accounts/memberships.ts";
import { SLOTS_PER_MS } from "../../lib/event-id.ts";
import { Deliveries, type Delivery } from "../../models/delivery.ts";
import { type StoredEvent, StoredEvents } from "../../models/event.ts";
import type { Webhook } from "../../models/webhook.ts";
import { enqueueDrain } from "../../queues/enqueue-drain.ts";
import type { JobContext } from "../../queues/run-worker.ts";
import { Snooze } from "../../queues/snooze.ts";
import { rowsOf } from "../../store/mongo.ts";
import { firstOnItsWay } from "../../store/on-their-way.ts";
import { deliveryId } from "../dispatch/create.ts";
import { releasePermits } from "../limits/permits.ts";
import { heldPermitTtlMs, renewPermits } from "../limits/renew-permits.ts";
import { attemptDelivery } from "./attempt-delivery.ts";
import type { DeliveryDeps, LogFields } from "./deps.ts";
import type { SharedByLaterAttempts } from "./next-attempt.ts";

/**
 * A delivery must be this old before it is sent: a drain looks at its start for earlier events that are still on their way
 * (`firstUnrecordedScore`). Milliseconds.
 */
export const SETTLE_MS = 500;
/** How long one drain sends; shorter than SETTLE_MS, so that all it sends was recorded when it started. */
const DRAIN_MS = 400;
/** When to look again if the permit is taken, by another drain or by what was in flight before the webhook was ordered. */
const TAKEN_MS = 1000;
/** When to look again for an earlier event that is stored and not yet recorded as a delivery. */
const EARLIER_AGAIN_MS = 250;
/** The longest wait for such an event: it may never be recorded, for example if its subscription is gone. */
const EARLIER_MAX_MS = 60_000;
/** Such events looked at in one query: usually the first is the one. */
const EARLIER_BATCH = 100;
/** An attempt that is due later than this has a job of its own, or the sweep drains the webhook once it is due. */
const SOON_MS = 60_000;

/**
 * Sends what is pending for an ordered webhook, one delivery after another by event id, for a short while; the first that
 * is not due holds up all behind it (docs/decisions/0011-order-and-rates.md). An attempt that takes long goes on without
 * the job. Throws Snooze if there is more to send.
 */
export async function sendOrdered(
  platform: DeliveryDeps,
  webhook: Webhook,
  context: Pick<JobContext<unknown>, "jobId" | "signal" | "isStopping">,
  shared: SharedByLaterAttempts,
): Promise<LogFields> {
  const ids = { webhook_id: webhook._id };
  // Named after the job, so that a job that is started again after a crash still holds its permit.
  const permit = [context.jobId];
  const { acquired } = await platform.permits.acquire(webhook._id, permit, 1, heldPermitTtlMs(platform));
  if (acquired === 0) {
    await enqueueDrain(platform, webhook, "order", TAKEN_MS, TAKEN_MS);
    return { ...ids, result: "busy" };
  }
  const stopRenewing = renewPermits(platform, () => [[webhook._id, permit]]);
  let isDetached = false;
  const drained = await shared.detached.unlessSlow({
    async work(signal) {
      let sent: Drained;
      try {
        sent = await sendWhileDue(platform, webhook, { ...context, signal }, shared);
      } finally {
        stopRenewing();
        await releasePermits(platform, webhook, permit);
      }
      if (sent.next === "now" ? isDetached : sent.next !== "none" && sent.next < SOON_MS) {
        await enqueueDrain(platform, webhook, "order", sent.next === "now" ? 0 : (sent.next as number));
      }
      return sent;
    },
    leave: () => {
      isDetached = true;
      // What is sent is pending, and the sweep drains the webhook again if nothing else does.
      return Promise.resolve(true);
    },
    repeat: () => enqueueDrain(platform, webhook, "order", 0).catch(() => undefined),
    signal: context.signal,
  });
  if (!drained) return { ...ids, result: "detached" };
  const { next, ...fields } = drained;
  if (next === "now") throw new Snooze(1, { ...ids, ...fields });
  return { ...ids, ...fields };
}

type Undispatched = Pick<StoredEvent, "_id" | "event_id" | "score" | "pending_dispatch">;

interface Drained {
  /** When the head is due: `now`, in so many milliseconds, or `none` if nothing is pending. */
  next: "now" | "none" | number;
  attempts: number;
  delivered: number;
}

async function sendWhileDue(
  platform: DeliveryDeps,
  webhook: Webhook,
  { signal, isStopping }: Pick<JobContext<unknown>, "signal" | "isStopping">,
  shared: SharedByLaterAttempts,
): Promise<Drained> {
  const drained: Drained = { next: "now", attempts: 0, delivered: 0 };
  const endsAt = performance.now() + DRAIN_MS;
  const unrecorded = await firstUnrecordedScore(platform, webhook);
  while (performance.now() < endsAt && !isStopping()) {
    const head = await findHead(platform, webhook._id);
    if (!head) return { ...drained, next: "none" };
    const waitMs = waitOf(head, unrecorded, platform.clock()) || (await tokenInMs(platform, webhook));
    if (waitMs > 0) return { ...drained, next: waitMs };
    const due = { delivery: head, webhook, generation: head.generation, signal };
    const leave = await shared.inFlight.enter(webhook);
    if (!leave) return { ...drained, next: TAKEN_MS };
    const { fields, isFailing } = await attemptDelivery(platform, due, shared).finally(leave);
    const { _id: delivery_id, webhook_id, event_id, emitter_id } = head;
    platform.log.debug({ delivery_id, webhook_id, event_id, emitter_id, ...fields }, "attempt");
    drained.attempts += 1;
    if (fields.result === "delivered") drained.delivered += 1;
    // The webhook's health has changed, and perhaps more: the next drain reads it again.
    if (isFailing || webhook.failing_since_ms !== null) return drained;
  }
  return drained;
}

async function findHead(platform: DeliveryDeps, webhookId: string): Promise<Delivery | null> {
  return await Deliveries(platform.mongo)
    .findOne({ webhook_id: webhookId, state: "pending" }, { attempts: { $slice: -1 } })
    .sort({ event_score: 1, _id: 1 })
    .hint("ordered")
    .lean<Delivery | null>();
}

function waitOf(head: Delivery, unrecordedScore: number, nowMs: number): number {
  const dueInMs = (head.next_attempt_at_ms ?? 0) - nowMs;
  if (dueInMs > 0 || head.attempts.length > 0) return Math.max(0, dueInMs);
  if (head.event_score > unrecordedScore) return EARLIER_AGAIN_MS;
  return Math.max(0, head.created_at.getTime() + SETTLE_MS - nowMs);
}

async function tokenInMs(platform: DeliveryDeps, webhook: Webhook): Promise<number> {
  const perSecond = webhook.rate_limit_per_second ?? null;
  if (perSecond === null) return 0;
  // Without regard to the waitlist: an ordered webhook has none.
  const { acquired, nextInMs } = await platform.permits.acquireTokens(webhook._id, 1, perSecond, false);
  return acquired > 0 ? 0 : Math.max(1, nextInMs);
}

/**
 * The score of the first event that goes to this webhook, or may, and is not a delivery yet: it is on its way to MongoDB,
 * its job is queued, or its worker was killed. Infinity if there is none.
 */
async function firstUnrecordedScore(platform: DeliveryDeps, webhook: Webhook): Promise<number> {
  // First, because an emission is on its way until it is stored: between the two looks it may only be seen twice.
  const onItsWay = (await firstEmissionMs(platform, webhook.owner_id)) * SLOTS_PER_MS - 1;
  return Math.min(onItsWay, await firstUndispatchedScore(platform, webhook._id));
}

/** The time before which no emission to a webhook of this owner's is on its way; Infinity if none is. */
async function firstEmissionMs(platform: DeliveryDeps, ownerId: string): Promise<number> {
  const organizations = (await organizationsOf(platform, [ownerId]))(ownerId);
  return firstOnItsWay(platform, [ownerId, ...organizations], platform.clock());
}

async function firstUndispatchedScore(platform: DeliveryDeps, webhookId: string): Promise<number> {
  const since = new Date(platform.clock() - EARLIER_MAX_MS);
  const waiting = StoredEvents(platform.mongo)
    .find(
      {
        "pending_dispatch.webhook_ids": webhookId,
        "pending_dispatch.sweep_at_ms": { $gt: 0 },
        created_at: { $gte: since },
      },
      { event_id: 1, score: 1, "pending_dispatch.listeners": 1 },
    )
    .hint("pending_at_webhook")
    .sort({ score: 1 })
    .lean<Undispatched[]>();
  let batch: Undispatched[] = [];
  for await (const event of rowsOf<Undispatched>(waiting, EARLIER_BATCH)) {
    batch.push(event);
    if (batch.length < EARLIER_BATCH) continue;
    const score = await firstUnrecordedOf(platform, batch, webhookId);
    if (score !== null) return score;
    batch = [];
  }
  return (await firstUnrecordedOf(platform, batch, webhookId)) ?? Number.POSITIVE_INFINITY;
}

/** The first of these events, which are in order, that is not a delivery to this webhook yet; null if all are. */
async function firstUnrecordedOf(
  platform: DeliveryDeps,
  events: Undispatched[],
  webhookId: string,
): Promise<number | null> {
  const expected = events.flatMap(({ _id, event_id, score, pending_dispatch }) =>
    (pending_dispatch?.listeners ?? [])
      .filter(([, listenerId]) => listenerId === webhookId)
      .map(([subscriptionId]) => ({ id: deliveryId({ id: _id, event_id }, subscriptionId), score })),
  );
  if (expected.length === 0) return null;
  const recorded = await Deliveries(platform.mongo)
    .find({ _id: { $in: expected.map(({ id }) => id) } }, { _id: 1 })
    .lean();
  const ids = new Set(recorded.map(({ _id }) => _id));
  return expected.find(({ id }) => !ids.has(id))?.score ?? null;
}
