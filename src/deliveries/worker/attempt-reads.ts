import { createBatcher } from "../../lib/batcher.ts";
import { type StoredEvent, StoredEvents } from "../../models/event.ts";
import { type Subscription, Subscriptions } from "../../models/subscription.ts";
import { type Webhook, Webhooks } from "../../models/webhook.ts";
import type { DeliveryDeps } from "./shared.ts";

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
export function openAttemptReads({ mongo }: Pick<DeliveryDeps, "mongo">): AttemptReads {
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
