import { shownOrg } from "../accounts/access.ts";
import { readNames } from "../accounts/names.ts";
import { presentDelivery } from "../deliveries/read.ts";
import { summaryEvent } from "../events/append.ts";
import { expandSummary } from "../events/read.ts";
import { eventMs, eventScore, isId, timeOfId } from "../lib/ids.ts";
import { JsonText } from "../lib/json-text.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { Deliveries, type Delivery } from "../models/delivery.ts";
import { type StoredEvent, StoredEvents, storedEventId } from "../models/event.ts";
import { type RunRecord, RunRecords } from "../models/run.ts";
import type { Stores } from "../platform.ts";
import type { EventSummary } from "../store/events/event-summary.ts";
import type { EventStream } from "../store/keys.ts";
import { presentRun } from "./present.ts";
import type { RunDetail } from "./schema.ts";

const SHOWN = LIMITS.runShown.value;

/** Returns the record of a run of one of these owners, otherwise null. A further part of an outbox is not a run. */
async function findRun({ mongo }: Stores, id: string, owners: string[]): Promise<RunRecord | null> {
  if (!isId("run", id)) return null;
  return await RunRecords(mongo)
    .findOne({ _id: id, owner_id: { $in: owners } }, { outbox: 0 })
    .lean<RunRecord | null>();
}

/** The access rule of routes whose path names a run. */
export const ownRun = { kind: "resource", what: "run", load: findRun } as const;

/**
 * Returns a run with what it emitted, logged and threw, and the deliveries of that. Nothing is stored for it: the ids of a run's
 * emissions begin with its own, so that all is found by id, as far as it is kept. What a run received is in its error.
 */
export async function readRun(platform: Stores, run: RunRecord, owners: string[]): Promise<RunDetail> {
  const { _id, source_id } = run;
  const emitted = Array.from({ length: Math.min(run.emitted, SHOWN) }, (_, i) => `${_id}-${i}`);
  const errorId = `${_id}-error`;
  const [emits, logs, errors, stored, deliveries] = await Promise.all([
    readKept(platform, run, "emits"),
    readKept(platform, run, "logs"),
    readKept(platform, run, "errors"),
    readStored(platform, source_id, [...emitted, errorId]),
    readDeliveries(platform, source_id, [...emitted, errorId], owners),
  ]);
  const named = deliveries.flatMap(({ webhook_id, emitter_id }) => [webhook_id, emitter_id]);
  const nameOf = await readNames(platform, [source_id, ...named], owners);
  return {
    ...presentRun(run, nameOf(source_id) ?? source_id),
    ...shownOrg(run.owner_id),
    queued_at_ms: timeOfId(_id) ?? run.finished_at.getTime(),
    events: emitted.flatMap(id => emits.get(id) ?? stored.get(id) ?? []).sort(byId),
    logs: [...logs.values()].sort(byId),
    error_event: await readError(platform, source_id, { kept: errors.get(errorId), id: errorId }),
    deliveries: deliveries.map(delivery => presentDelivery(delivery, nameOf)),
  };
}

const byId = (one: { id: string }, other: { id: string }) =>
  (eventScore(one.id) ?? 0) - (eventScore(other.id) ?? 0);

/** The summaries of a run's emissions that are among the last of their stream, by emit id. */
async function readKept(
  { eventLog }: Stores,
  { _id, source_id }: RunRecord,
  stream: EventStream,
): Promise<Map<string, EventSummary>> {
  const { rows } = await eventLog.page(source_id, stream, { limit: LIMITS.eventsKept.value });
  return new Map(
    rows
      .filter(({ metadata }) => metadata.emit_id.startsWith(`${_id}-`))
      .map(row => [row.metadata.emit_id, row]),
  );
}

/** The emissions that MongoDB has, by emit id, without their data: together that may be any size. */
async function readStored({ mongo }: Stores, sourceId: string, emitIds: string[]) {
  const events = await StoredEvents(mongo)
    .find({ _id: { $in: emitIds.map(id => storedEventId(sourceId, id)) } }, { event_id: 1, name: 1 })
    .lean<Pick<StoredEvent, "_id" | "event_id" | "name">[]>();
  return new Map(
    events.map(({ _id, event_id, name }) => {
      const emit_id = _id.slice(storedEventId(sourceId, "").length);
      const metadata = { emit_id, name, emitter_id: sourceId };
      return [emit_id, { id: event_id, indexed_at_ms: eventMs(event_id), event: null, metadata }];
    }),
  );
}

function readDeliveries(
  { mongo }: Stores,
  sourceId: string,
  emitIds: string[],
  owners: string[],
): Promise<Delivery[]> {
  return Deliveries(mongo)
    .find(
      { emit_id: { $in: emitIds.map(id => storedEventId(sourceId, id)) }, owner_id: { $in: owners } },
      { attempts: { $slice: -1 } },
    )
    .limit(SHOWN)
    .lean<Delivery[]>();
}

/** Returns the event of a run's error, whole, with what the run received; null without one, or once it is not kept. */
async function readError(
  platform: Stores,
  sourceId: string,
  { kept, id }: { kept: EventSummary | undefined; id: string },
): Promise<EventSummary | null> {
  if (kept) return await expandSummary(platform, sourceId, kept);
  const stored = await StoredEvents(platform.mongo).findById(storedEventId(sourceId, id)).lean<StoredEvent>();
  if (!stored) return null;
  return {
    id: stored.event_id,
    indexed_at_ms: eventMs(stored.event_id),
    event: new JsonText(summaryEvent(stored.name, new JsonText(stored.event))),
    metadata: { emit_id: id, name: stored.name, emitter_id: sourceId },
  };
}
