import { hasRecordedFirstAttempts } from "../deliveries/dispatch/dispatch.ts";
import { createDeferredBatcher } from "../lib/batcher.ts";
import { eventScore } from "../lib/ids.ts";
import type { JsonText } from "../lib/json-text.ts";
import { openPer } from "../lib/lazy.ts";
import { groupBy } from "../lib/lists.ts";
import { wordsOfPayload } from "../lib/payload-words.ts";
import { Deliveries, TransformedPayloads } from "../models/delivery.ts";
import { type StoredEvent, StoredEvents } from "../models/event.ts";
import type { Stores } from "../platform.ts";
import type { DeletionsJob } from "../queues/deletions.ts";
import { STREAMS } from "../store/events/event-summary.ts";

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

/** Payloads read at a time, so that a long range never sits in memory. */
const BATCH = 500;

/**
 * Deletes an emitter's stored events, and what functions made of them, in a range of event ids, both ends inclusive (docs/rest-api.md#source-events). A
 * payload that a delivery still needs stays until that delivery has ended: deleting takes back nothing that was emitted.
 */
export async function deleteRange(
  platform: Stores,
  job: DeletionsJob,
): Promise<{ emitter_id: string; deleted: number }> {
  const range = { startId: job.start_id, endId: job.end_id };
  let deleted = 0;
  for (const stream of STREAMS) deleted += await platform.eventLog.deleteRange(job.emitter_id, stream, range);
  await deletePayloads(platform, job);
  return { emitter_id: job.emitter_id, deleted };
}

async function deletePayloads(platform: Stores, job: DeletionsJob): Promise<void> {
  const events = StoredEvents(platform.mongo);
  let from = job.start_id === undefined ? -1 : (eventScore(job.start_id) ?? -1);
  const to = job.end_id === undefined ? Number.MAX_SAFE_INTEGER : (eventScore(job.end_id) ?? -1);
  for (;;) {
    const batch = await events
      .find(
        { emitter_id: job.emitter_id, score: { $gte: from, $lte: to } },
        { event_id: 1, score: 1, pending_dispatch: 1 },
      )
      .sort({ score: 1 })
      .limit(BATCH)
      .lean();
    const ids = batch.map(event => event._id);
    const needed = await Deliveries(platform.mongo).distinct("emit_id", {
      emit_id: { $in: ids },
      state: "pending",
    });
    for (const event of batch) {
      if (!(await hasRecordedFirstAttempts(platform, event))) needed.push(event._id);
    }
    const deletable = ids.filter(id => !needed.includes(id));
    await events.deleteMany({ _id: { $in: deletable } });
    await TransformedPayloads(platform.mongo).deleteMany({ emit_id: { $in: deletable } });
    const last = batch.at(-1);
    if (!last || batch.length < BATCH) return;
    from = last.score + 1;
  }
}

/** Events that were trimmed from their stream and whose payload may be in MongoDB. */
export interface TrimmedEvents {
  emitterId: string;
  eventIds: string[];
}

/** Deletes payloads that were kept only for their summary. */
async function deleteTrimmed(platform: Stores, trimmed: TrimmedEvents[]): Promise<void> {
  const byEmitter = groupBy(trimmed, ({ emitterId }) => emitterId);
  await StoredEvents(platform.mongo).deleteMany({
    $or: [...byEmitter].map(([emitter_id, all]) => ({
      emitter_id,
      score: { $in: all.flatMap(({ eventIds }) => eventIds.map(id => eventScore(id) ?? -1)) },
      has_webhook_listeners: false,
      has_caller_id: { $ne: true },
    })),
  });
}

const deleterOf = openPer(
  (platform: Stores) =>
    createDeferredBatcher(
      (trimmed: TrimmedEvents[]) => deleteTrimmed(platform, trimmed),
      error => platform.log.debug({ err: error }, "payloads of trimmed events are left to their expiry"),
      ({ eventIds }) => eventIds.length,
    ),
  ({ mongo }) => mongo,
);

/**
 * Deletes payloads that were kept only for their summary, a little later and many at once: a payload without its summary
 * can't be read. Never throws.
 */
export const deleteTrimmedLater = (platform: Stores, trimmed: TrimmedEvents[]): void =>
  deleterOf(platform)(trimmed);
