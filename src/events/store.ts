import { type StoredEvent, StoredEvents } from "../models/event.ts";
import type { Platform } from "../platform.ts";
import { duplicateIndexes } from "../store/mongo.ts";

/** Stores the whole of events; one that an earlier try stored stays as it is. */
export async function storeEvents(platform: Pick<Platform, "mongo">, events: StoredEvent[]): Promise<void> {
  if (events.length === 0) return;
  try {
    await StoredEvents(platform.mongo).insertMany(events, { ordered: false, lean: true });
  } catch (error) {
    if (!duplicateIndexes(error)) throw error;
  }
}

/** What is known of an event that was stored before. */
export interface EarlierEvent {
  event_id: string;
  /** The job that makes its first attempts; absent when they are made, or there are none to make. */
  group?: string;
}

/** Those of the events that are stored: what was emitted long ago keeps its id, though Redis has forgotten it. */
export async function findEarlier(
  platform: Pick<Platform, "mongo">,
  payloadIds: string[],
): Promise<Map<string, EarlierEvent>> {
  if (payloadIds.length === 0) return new Map();
  const stored = await StoredEvents(platform.mongo)
    .find({ _id: { $in: payloadIds } }, { event_id: 1, "undelivered.group": 1 })
    .lean<StoredEvent[]>();
  return new Map(
    stored.map(({ _id, event_id, undelivered }) => [
      _id,
      { event_id, ...(undelivered && { group: undelivered.group }) },
    ]),
  );
}
