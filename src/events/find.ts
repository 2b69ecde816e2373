import { findAccounts } from "../accounts/organizations.ts";
import { isAccountId } from "../alerts/raise.ts";
import { invalidField, notFound } from "../lib/errors.ts";
import { eventScore, isId, runIdOf } from "../lib/ids.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { Deliveries } from "../models/delivery.ts";
import { type StoredEvent, StoredEvents, storedEventId } from "../models/event.ts";
import { RunRecords } from "../models/run.ts";
import { type Source, Sources } from "../models/source.ts";
import { Workflows } from "../models/workflow.ts";
import type { Stores } from "../platform.ts";
import type { EventSummary } from "../store/events/event-summary.ts";
import type { Emitter } from "../subscriptions/match.ts";

/** Returns the source or workflow with this id, or the account, which emits alerts; null if there is none. */
export async function findEmitter(platform: Stores, emitterId: string): Promise<Emitter | null> {
  return (await find(platform, [emitterId])).get(emitterId) ?? null;
}

/** Returns the emitters that exist, by id; cached ones are not looked up. */
export function findEmitters(platform: Stores, emitterIds: string[]): Promise<Map<string, Emitter>> {
  return platform.routing.lookUp(
    "emitter",
    emitterIds,
    missing => find(platform, missing),
    ({ owner_id }) => [owner_id],
  );
}

async function find(platform: Stores, emitterIds: string[]): Promise<Map<string, Emitter>> {
  const workflows = emitterIds.filter(id => id.startsWith("p_"));
  const accounts = emitterIds.filter(isAccountId);
  const sources = emitterIds.filter(id => !id.startsWith("p_") && !isAccountId(id));
  const rows: { _id: string; owner_id: string; state?: Source["state"] }[] = (
    await Promise.all([
      accounts.length > 0 ? findAccounts(platform, accounts) : [],
      workflows.length > 0
        ? Workflows(platform.mongo)
            .find({ _id: { $in: workflows } }, { owner_id: 1 })
            .lean()
        : [],
      sources.length > 0
        ? Sources(platform.mongo)
            .find({ _id: { $in: sources } }, { owner_id: 1, state: 1 })
            .lean()
        : [],
    ])
  ).flat();
  return new Map(
    rows.map(({ _id, owner_id, state = "ready" }) => [
      _id,
      { id: _id, owner_id, ...(state !== "ready" && { isHidden: true as const }) },
    ]),
  );
}

/** What is known of an event before its story is put together. */
export interface FoundEvent {
  emitter: Emitter;
  emitId: string | null;
  eventId: string | null;
  stored: StoredEvent | null;
  summary: EventSummary | null;
}

/** Returns what is stored of an event; its ids and errors are those of `traceEvent`, but an unknown event has a null `eventId`. */
export async function findEvent(
  platform: Stores,
  id: string,
  emitterId: string | undefined,
  owners: string[],
): Promise<FoundEvent> {
  const ofDelivery = isId("dlv", id) ? await findByDelivery(platform, id, emitterId, owners) : null;
  if (ofDelivery) return ofDelivery;
  const named = emitterId ?? (await sourceOfEmitId(platform, id));
  if (named === undefined) {
    if (isId("dlv", id)) throw notFound("delivery");
    throw invalidField(
      "query",
      "emitter_id",
      "is required, because ids of this kind are unique per emitter only",
    );
  }
  const emitter = await ownEmitter(platform, named, owners);
  // A publisher may choose an id of any form.
  const ofEventId = eventScore(id) === null ? null : await findByEventId(platform, emitter, id);
  return ofEventId?.eventId ? ofEventId : await findByEmitId(platform, emitter, id);
}

async function findByDelivery(
  platform: Stores,
  id: string,
  emitterId: string | undefined,
  owners: string[],
): Promise<FoundEvent | null> {
  const delivery = await Deliveries(platform.mongo)
    .findOne({ _id: id, owner_id: { $in: owners } }, { emitter_id: 1, event_id: 1 })
    .lean();
  if (!delivery || (emitterId ?? delivery.emitter_id) !== delivery.emitter_id) return null;
  const emitter = await ownEmitter(platform, delivery.emitter_id, owners);
  return await findByEventId(platform, emitter, delivery.event_id);
}

async function ownEmitter(platform: Stores, emitterId: string, owners: string[]): Promise<Emitter> {
  const emitter = await findEmitter(platform, emitterId);
  if (!emitter || !owners.includes(emitter.owner_id)) throw notFound("event");
  return emitter;
}

async function sourceOfEmitId(platform: Stores, emitId: string): Promise<string | undefined> {
  const runId = runIdOf(emitId);
  if (!runId) return undefined;
  return (await RunRecords(platform.mongo).findById(runId, { source_id: 1 }).lean())?.source_id;
}

async function findByEventId(platform: Stores, emitter: Emitter, eventId: string): Promise<FoundEvent> {
  const [stored, summary] = await Promise.all([
    StoredEvents(platform.mongo)
      .findOne({ emitter_id: emitter.id, score: eventScore(eventId) ?? -1, event_id: eventId })
      .lean<StoredEvent | null>(),
    platform.eventLog.find(emitter.id, eventId),
  ]);
  const fromStored = stored?._id.slice(storedEventId(emitter.id, "").length);
  const emitId = summary?.metadata.emit_id ?? fromStored ?? null;
  return { emitter, emitId, eventId: stored || summary ? eventId : null, stored, summary };
}

async function findByEmitId(platform: Stores, emitter: Emitter, emitId: string): Promise<FoundEvent> {
  const [stored, remembered] = await Promise.all([
    StoredEvents(platform.mongo).findById(storedEventId(emitter.id, emitId)).lean<StoredEvent | null>(),
    platform.eventLog.eventIdOf(emitter.id, emitId),
  ]);
  const eventId = stored?.event_id ?? remembered;
  const summary = eventId
    ? await platform.eventLog.find(emitter.id, eventId)
    : await findSummary(platform, emitter, emitId);
  return { emitter, emitId, eventId: eventId ?? summary?.id ?? null, stored, summary };
}

/** Looks among the last events: an id is remembered for less time than they are, unless its event is stored. */
async function findSummary(
  { eventLog }: Stores,
  emitter: Emitter,
  emitId: string,
): Promise<EventSummary | null> {
  const { rows } = await eventLog.page(emitter.id, "emits", { limit: LIMITS.eventsKept.value });
  return rows.find(({ metadata }) => metadata.emit_id === emitId) ?? null;
}
