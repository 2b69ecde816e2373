import { organizationsOf } from "../../accounts/organizations.ts";
import { SLOTS_PER_MS } from "../../lib/ids.ts";
import { Deliveries, type Delivery } from "../../models/delivery.ts";
import { type StoredEvent, StoredEvents } from "../../models/event.ts";
import type { Webhook } from "../../models/webhook.ts";
import type { Calling, Working } from "../../platform.ts";
import { rowsOf } from "../../store/connections/mongo.ts";
import { firstOnItsWay } from "../../store/events/on-their-way.ts";
import { deliveryId } from "../dispatch/create.ts";
import type { DueNow } from "./due.ts";

/**
 * A delivery must be this old before it is sent in order: a drain looks at its start for earlier events that are still on their way
 * (`firstUnrecordedScore`). Longer than a drain begins attempts, so that all it sends was recorded when it started. Milliseconds.
 */
export const SETTLE_MS = 500;
/** When to look again for an earlier event that is stored and not yet recorded as a delivery. */
const EARLIER_AGAIN_MS = 250;
/** The longest wait for such an event: it may never be recorded, for example if its subscription is gone. */
const EARLIER_MAX_MS = 60_000;
/** Such events looked at in one query: usually the first is the one. */
const EARLIER_BATCH = 100;

/**
 * Opens the deliveries of an ordered webhook for one drain. Each call returns the first pending one by event id, if it is due;
 * until then it holds up all behind it (docs/decisions/0011-order-and-rates.md).
 */
export async function openOrder(
  platform: Working & Calling,
  webhook: Webhook,
): Promise<() => Promise<DueNow>> {
  const unrecorded = await firstUnrecordedScore(platform, webhook);
  return async () => {
    const head = await findHead(platform, webhook._id);
    if (!head) return { rows: [] };
    const waitMs = waitOf(head, unrecorded, platform.clock());
    return waitMs > 0 ? { rows: [], waitMs } : { rows: [head] };
  };
}

type Undispatched = Pick<StoredEvent, "_id" | "event_id" | "score" | "pending_dispatch">;

async function findHead(platform: Working & Calling, webhookId: string): Promise<Delivery | null> {
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

/**
 * The score of the first event that goes to this webhook, or may, and is not a delivery yet: it is on its way to MongoDB,
 * its job is queued, or its worker was killed. Infinity if there is none.
 */
async function firstUnrecordedScore(platform: Working & Calling, webhook: Webhook): Promise<number> {
  // First, because an emission is on its way until it is stored: between the two looks it may only be seen twice.
  const onItsWay = (await firstEmissionMs(platform, webhook.owner_id)) * SLOTS_PER_MS - 1;
  return Math.min(onItsWay, await firstUndispatchedScore(platform, webhook._id));
}

/** The time before which no emission to a webhook of this owner's is on its way; Infinity if none is. */
async function firstEmissionMs(platform: Working & Calling, ownerId: string): Promise<number> {
  const organizations = (await organizationsOf(platform, [ownerId]))(ownerId);
  return firstOnItsWay(platform, [ownerId, ...organizations], platform.clock());
}

async function firstUndispatchedScore(platform: Working & Calling, webhookId: string): Promise<number> {
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
  platform: Working & Calling,
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
