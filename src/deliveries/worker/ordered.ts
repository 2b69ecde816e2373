import { Deliveries, type Delivery } from "../../models/delivery.ts";
import { type StoredEvent, StoredEvents } from "../../models/event.ts";
import type { Webhook } from "../../models/webhook.ts";
import { enqueueTurn } from "../../queues/enqueue-drain.ts";
import type { Work } from "../../queues/run-worker.ts";
import { Postponed } from "../../queues/snooze.ts";
import type { RetryOptions } from "../attempt/attempt.ts";
import { deliveryId } from "../dispatch/create.ts";
import { leavePlaces, placeLifeMs } from "../limits/permits.ts";
import { attemptPending, type DeliveryPlatform, type Line } from "./attempt-delivery.ts";

/**
 * A delivery is this old when it is sent first: events of one emitter are recorded by several workers at once, and one
 * that was emitted before may be recorded a little later. Milliseconds.
 */
export const GRACE_MS = 500;
/** One webhook's turn; not longer than the grace, so that all it sends was recorded when the turn began. */
const TURN_MS = 400;
/** Somebody else holds the place: another turn, or what was in flight when the webhook became an ordered one. */
const BUSY_MS = 1000;
/** An earlier event that is stored and still to be recorded is looked for again after this. */
const EARLIER_AGAIN_MS = 250;
/** It is waited for so long at most: its record may never come, as when its subscription is gone. */
const EARLIER_MOST_MS = 60_000;
/** A later attempt has a job of its own, which comes in time. */
const SOON_MS = 60_000;

/**
 * Sends what is pending for an ordered webhook, one after the other by event id, for a short while; the first that is
 * not due holds up all behind it (docs/decisions/0011). Throws Postponed when there is more.
 */
export async function sendInOrder(
  platform: DeliveryPlatform,
  webhook: Webhook,
  work: Pick<Work<unknown>, "jobId" | "signal" | "stopping">,
  options: RetryOptions,
): Promise<Line> {
  const about = { webhook_id: webhook._id };
  // Under the job's name, so that a job that is given out again after a crash has its place still.
  if ((await platform.places.take(webhook._id, [work.jobId], 1, placeLifeMs(platform))) === 0) {
    await enqueueTurn(platform, webhook._id, "order", BUSY_MS, BUSY_MS);
    return { ...about, result: "busy" };
  }
  let turn: Turn;
  try {
    turn = await send(platform, webhook, work, options);
  } finally {
    await leavePlaces(platform, webhook._id, [work.jobId], webhook);
  }
  const { next, ...line } = turn;
  if (next === "more") throw new Postponed(1, { ...about, ...line });
  if (next !== "none" && next < SOON_MS) await enqueueTurn(platform, webhook._id, "order", next);
  return { ...about, ...line };
}

interface Turn {
  /** `more`: at once; else milliseconds until the first in line may go; `none`: the line is empty. */
  next: "more" | "none" | number;
  attempts: number;
  delivered: number;
}

async function send(
  platform: DeliveryPlatform,
  webhook: Webhook,
  { signal, stopping }: Pick<Work<unknown>, "signal" | "stopping">,
  options: RetryOptions,
): Promise<Turn> {
  const turn: Turn = { next: "more", attempts: 0, delivered: 0 };
  const endsAt = performance.now() + TURN_MS;
  const missing = await firstMissing(platform, webhook._id);
  while (performance.now() < endsAt && !stopping()) {
    const head = await firstInLine(platform, webhook._id);
    if (!head) return { ...turn, next: "none" };
    const waitMs = waitOf(head, missing, platform.clock()) || (await tokenInMs(platform, webhook));
    if (waitMs > 0) return { ...turn, next: waitMs };
    const pending = { delivery: head, webhook, round: head.round, signal, options };
    const { line, isFailing } = await attemptPending(platform, pending);
    turn.attempts += 1;
    if (line.result === "delivered") turn.delivered += 1;
    // The webhook has changed: its health, and maybe more. The next turn reads it anew.
    if (isFailing || webhook.failing_since_ms !== null) return turn;
  }
  return turn;
}

async function firstInLine(platform: DeliveryPlatform, webhookId: string): Promise<Delivery | null> {
  return await Deliveries(platform.mongo)
    .findOne({ webhook_id: webhookId, state: "pending" }, { attempts: { $slice: -1 } })
    .sort({ event_score: 1, _id: 1 })
    .hint("line")
    .lean<Delivery | null>();
}

function waitOf(head: Delivery, missing: number, nowMs: number): number {
  const dueInMs = (head.next_attempt_at_ms ?? 0) - nowMs;
  if (dueInMs > 0 || head.attempts.length > 0) return Math.max(0, dueInMs);
  if (head.event_score > missing) return EARLIER_AGAIN_MS;
  return Math.max(0, head.created_at.getTime() + GRACE_MS - nowMs);
}

async function tokenInMs(platform: DeliveryPlatform, webhook: Webhook): Promise<number> {
  const perSecond = webhook.rate_limit_per_second ?? null;
  if (perSecond === null) return 0;
  // Without regard to those in line for places: here they are all in this one.
  const { taken, nextInMs } = await platform.places.takeTokens(webhook._id, 1, perSecond, false);
  return taken > 0 ? 0 : Math.max(1, nextInMs);
}

/**
 * The score of the first event that is stored, is to go to this webhook, and has not become a delivery yet: its job is
 * on the queue, or in the hands of a worker that was killed. Infinity where there is none.
 */
async function firstMissing(platform: DeliveryPlatform, webhookId: string): Promise<number> {
  const since = new Date(platform.clock() - EARLIER_MOST_MS);
  const events = await StoredEvents(platform.mongo)
    .find(
      {
        "undelivered.sweep_at_ms": { $gt: 0 },
        "undelivered.listeners": { $elemMatch: { $elemMatch: { $eq: webhookId } } },
        created_at: { $gte: since },
      },
      { event_id: 1, score: 1, "undelivered.listeners": 1 },
    )
    .hint("undelivered")
    .lean<Pick<StoredEvent, "_id" | "event_id" | "score" | "undelivered">[]>();
  const expected = events.flatMap(({ _id, event_id, score, undelivered }) =>
    (undelivered?.listeners ?? [])
      .filter(([, listenerId]) => listenerId === webhookId)
      .map(([subscriptionId]) => ({ id: deliveryId({ id: _id, event_id }, subscriptionId), score })),
  );
  if (expected.length === 0) return Number.POSITIVE_INFINITY;
  const recorded = await Deliveries(platform.mongo)
    .find({ _id: { $in: expected.map(({ id }) => id) } }, { _id: 1 })
    .lean();
  const ids = new Set(recorded.map(({ _id }) => _id));
  return expected.reduce(
    (first, { id, score }) => (ids.has(id) ? first : Math.min(first, score)),
    Number.POSITIVE_INFINITY,
  );
}
