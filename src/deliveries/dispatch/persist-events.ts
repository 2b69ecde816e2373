import type { Connection } from "mongoose";
import { createBatcher, LINGER } from "../../lib/batcher.ts";
import { type StoredEvent, StoredEvents } from "../../models/event.ts";
import type { Stores } from "../../platform.ts";
import { duplicateIndexes } from "../../store/mongo.ts";

/** Events in one insert; and inserts at a time, so that the next is prepared while MongoDB handles another. */
const EVENTS_PER_INSERT = 500;
const INSERTS_AT_ONCE = 3;
/** Listeners that an event is stored with and that take as long as an event. */
const LISTENERS_PER_UNIT = 8;

const weightOf = ({ pending_dispatch }: StoredEvent) =>
  1 + (pending_dispatch?.listeners.length ?? 0) / LISTENERS_PER_UNIT;

type Insert = (events: StoredEvent[]) => Promise<void>;

const inserts = new WeakMap<Connection, Insert>();

/**
 * Stores the payloads of events of one account; one that an earlier try stored stays as it is. What this process stores at
 * the same time is one insert. Throws `unavailable`.
 */
export async function persistEvents({ mongo }: Stores, events: StoredEvent[]): Promise<void> {
  if (events.length === 0) return;
  const insert = inserts.get(mongo) ?? openInsert(mongo);
  inserts.set(mongo, insert);
  await insert(events);
}

const openInsert = (mongo: Connection): Insert =>
  createBatcher((batch: StoredEvent[][]) => insertAll(mongo, batch.flat()), {
    maxWeight: EVENTS_PER_INSERT,
    concurrency: INSERTS_AT_ONCE,
    weigh: events => events.reduce((sum, event) => sum + weightOf(event), 0),
    accountOf: ([event]) => event?.owner_id ?? "",
    ...LINGER,
  });

async function insertAll(mongo: Connection, events: StoredEvent[]): Promise<void> {
  try {
    await StoredEvents(mongo).insertMany(events, { ordered: false, lean: true });
  } catch (error) {
    if (!duplicateIndexes(error)) throw error;
  }
}
