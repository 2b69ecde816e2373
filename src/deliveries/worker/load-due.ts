import { subscriberAccessNow } from "../../accounts/access.ts";
import { createBatcher } from "../../lib/batcher.ts";
import type { Delivery } from "../../models/delivery.ts";
import { type StoredEvent, StoredEvents } from "../../models/event.ts";
import { type Subscription, Subscriptions } from "../../models/subscription.ts";
import { type Webhook, Webhooks } from "../../models/webhook.ts";
import type { Calling, Stores, Working } from "../../platform.ts";
import { isSubscriptionEnded } from "../../subscriptions/find.ts";
import { prepare } from "../attempt/prepare.ts";
import { endDelivery } from "../attempt/record.ts";
import { connectedBy } from "../attempt/sendable.ts";
import type { Due, SharedByAttempts } from "./shared.ts";

/** An event is stored while its first attempts are made, and MongoDB may have been away since. Milliseconds. */
const STORED_LATE_MS = 60_000;

export interface LoadedDue {
  toSend: Due[];
  /** Deliveries that ended without an attempt. */
  ended: number;
  /** Deliveries whose events are not stored yet. */
  early: Delivery[];
}

/**
 * Loads what the attempts of pending deliveries need and prepares each, as things are now: the webhook may have been deleted
 * or disabled since, and a subscription ended. Those that are not to be sent end here. Throws `unavailable`.
 */
export async function loadDue(
  platform: Working & Calling,
  webhook: Webhook | null,
  rows: Delivery[],
  shared: Pick<SharedByAttempts, "reads">,
): Promise<LoadedDue> {
  const loaded: LoadedDue = { toSend: [], ended: 0, early: [] };
  await Promise.all(rows.map(row => loadOne(platform, webhook, row, shared, loaded)));
  const order = new Map(rows.map(({ _id }, i) => [_id, i]));
  loaded.toSend.sort((a, b) => (order.get(a.deliveryId) ?? 0) - (order.get(b.deliveryId) ?? 0));
  return loaded;
}

async function loadOne(
  platform: Working & Calling,
  webhook: Webhook | null,
  row: Delivery,
  { reads }: Pick<SharedByAttempts, "reads">,
  loaded: LoadedDue,
): Promise<void> {
  const [event, subscription] = await Promise.all([
    reads.event(row.emit_id),
    reads.subscription(row.subscription_id),
  ]);
  const prepared = prepare({
    webhook,
    access: await subscriberAccessNow(platform, connectedBy(row, subscription, event)),
    isSubscribed: subscription !== null || !(await isSubscriptionEnded(platform, row)),
    payload: event?.event,
  });
  if (prepared.kind === "send") {
    loaded.toSend.push(dueOf(row, prepared, subscription ?? row));
    return;
  }
  const ageMs = platform.clock() - row.created_at.getTime();
  if (prepared.reason === "payload-gone" && ageMs < STORED_LATE_MS) {
    loaded.early.push(row);
    return;
  }
  await endDelivery(platform, row, prepared.reason);
  loaded.ended += 1;
}

/** `having`: the subscription, or, if it was deleted with its emitter, the delivery, which notes what it had. */
function dueOf(
  row: Delivery,
  { webhook, body }: { webhook: Webhook; body: string },
  having: { owner_id: string; function_hash?: string | null | undefined },
): Due {
  const { _id, emit_id, event_id, emitter_id, event_name, trace, hops, subscription_id, webhook_id } = row;
  return {
    deliveryId: _id,
    event: {
      ...{ id: emit_id, event_id, emitter_id, name: event_name },
      ...(trace !== undefined && { trace }),
      ...(hops !== undefined && { hops }),
    },
    listener: { subscriptionId: subscription_id, webhookId: webhook_id, ownerId: having.owner_id },
    webhook,
    body,
    functionHash: having.function_hash ?? null,
    row,
  };
}

/** What a later attempt reads, as it is now; null if it is absent. */
export interface AttemptReads {
  webhook(id: string): Promise<Webhook | null>;
  /** An event: its payload, as JSON, and the owner of its emitter. */
  event(emitId: string): Promise<Pick<StoredEvent, "event" | "owner_id"> | null>;
  subscription(id: string): Promise<Pick<Subscription, "owner_id" | "function_hash"> | null>;
}

/** Documents of one query. */
const MOST = 100;
/** A payload may have half a megabyte: few at a time, so that an account's large ones don't hold up the small ones of others. */
const PAYLOADS = { maxWeight: 16, concurrency: 4 };

/** Reads what the attempts of one process ask for at the same time in one query of each kind. */
export function openAttemptReads({ mongo }: Stores): AttemptReads {
  return {
    webhook: byId(ids =>
      Webhooks(mongo)
        .find({ _id: { $in: ids } })
        .lean<Webhook[]>(),
    ),
    event: byId(
      ids =>
        StoredEvents(mongo)
          .find({ _id: { $in: ids } }, { event: 1, owner_id: 1 })
          .lean(),
      PAYLOADS,
    ),
    subscription: byId(ids =>
      Subscriptions(mongo)
        .find({ _id: { $in: ids } }, { owner_id: 1, function_hash: 1 })
        .lean(),
    ),
  };
}

function byId<Row extends { _id: string }>(
  find: (ids: string[]) => Promise<Row[]>,
  bounds: { maxWeight: number; concurrency?: number } = { maxWeight: MOST },
): (id: string) => Promise<Row | null> {
  return createBatcher<string, Row | null>(async ids => {
    const rows = new Map((await find([...new Set(ids)])).map(row => [row._id, row]));
    return ids.map(id => rows.get(id) ?? null);
  }, bounds);
}
