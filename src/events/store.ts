import type { JsonText } from "../lib/json-text.ts";
import { wordsOfPayload } from "../lib/payload-words.ts";
import { type StoredEvent, StoredEvents } from "../models/event.ts";
import type { Stores } from "../platform.ts";

/** An event that was stored before. */
export interface EarlierEvent {
  event_id: string;
  createdAtMs: number;
  /** The job that makes its first attempts; absent if they were made, or there are none. */
  jobId?: string;
}

/** Returns the events that are stored: an event emitted long ago keeps its id, even if Redis has forgotten it. */
export async function findEarlier(
  platform: Stores,
  storedEventIds: string[],
): Promise<Map<string, EarlierEvent>> {
  if (storedEventIds.length === 0) return new Map();
  const stored = await StoredEvents(platform.mongo)
    .find({ _id: { $in: storedEventIds } }, { event_id: 1, created_at: 1, "pending_dispatch.job_id": 1 })
    .lean<StoredEvent[]>();
  return new Map(
    stored.map(({ _id, event_id, created_at, pending_dispatch }) => [
      _id,
      {
        event_id,
        createdAtMs: created_at.getTime(),
        ...(pending_dispatch && { jobId: pending_dispatch.job_id }),
      },
    ]),
  );
}

/** The field by which an event's deliveries are found by text in its payload; none if the payload has no words. */
export function searchedBy({ config }: Stores, payload: JsonText): Pick<StoredEvent, "words"> {
  if (config.payloadSearchWords === 0) return {};
  const words = wordsOfPayload(payload.value, config.payloadSearchWords);
  return words.length > 0 ? { words } : {};
}
