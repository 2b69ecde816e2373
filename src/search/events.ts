import type { QueryFilter } from "mongoose";
import { shownOrg } from "../accounts/access.ts";
import { idsOfEvent } from "../deliveries/select/webhooks.ts";
import { eventMs, eventScore, runIdOf } from "../lib/ids.ts";
import { Deliveries } from "../models/delivery.ts";
import { type StoredEvent, StoredEvents, storedEventId } from "../models/event.ts";
import { RunRecords } from "../models/run.ts";
import { Sources } from "../models/source.ts";
import { Workflows } from "../models/workflow.ts";
import type { Stores } from "../platform.ts";
import { DELIVERY_FIELDS, draftOfDelivery } from "./deliveries.ts";
import { type Draft, type Found, options, RANK, READ, type Search } from "./draft.ts";

/** So many of the newest emitters are asked for an event whose id is unique per emitter only. */
const EMITTERS = 10_000;
/** As `EMITTERS`, for events that Redis alone has. */
const EMITTERS_IN_REDIS = 100;
/** As `EMITTERS`, for any word that may be an emit id. */
const EMITTERS_OF_A_WORD = 1000;

interface KnownEvent {
  emitter_id: string;
  owner_id: string;
  event_id: string;
  name: string;
}

const draftOf = ({ emitter_id, owner_id, event_id, name }: KnownEvent): Draft => ({
  kind: "event",
  id: event_id,
  ...shownOrg(owner_id),
  name: { of: [emitter_id] },
  detail: name,
  state: null,
  emitter_id,
  at_ms: eventMs(event_id),
  rank: RANK.id,
});

/** Finds events, and their deliveries, by event id. */
export async function findByEventId(platform: Stores, { q, owners }: Search): Promise<Found> {
  const score = eventScore(q);
  if (score === null) return { drafts: [] };
  const deliveries = await Deliveries(platform.mongo)
    .find(
      { _id: idsOfEvent(q), owner_id: { $in: owners }, event_id: q },
      { ...DELIVERY_FIELDS, emit_id: 1 },
      options,
    )
    .limit(READ)
    .lean();
  const delivered = await readStored(platform, owners, {
    _id: { $in: deliveries.map(({ emit_id }) => emit_id) },
  });
  // Most events that somebody looks for were on their way to a webhook, and few emitters need be asked for the others.
  const { events, isPartial } =
    delivered.length > 0
      ? { events: delivered, isPartial: false }
      : await findAtEmitters(platform, owners, q, score);
  return {
    drafts: [...events.map(draftOf), ...deliveries.map(row => draftOfDelivery(row, RANK.id))],
    isPartial,
  };
}

async function findAtEmitters(
  platform: Stores,
  owners: string[],
  eventId: string,
  score: number,
): Promise<{ events: KnownEvent[]; isPartial: boolean }> {
  const { emitters, hasMore } = await findEmitters(platform, owners, EMITTERS);
  const emitter_id = { $in: emitters.map(({ _id }) => _id) };
  const asked = emitters.slice(0, EMITTERS_IN_REDIS);
  const [stored, summaries] = await Promise.all([
    readStored(platform, owners, { emitter_id, score, event_id: eventId }),
    Promise.all(asked.map(({ _id }) => platform.eventLog.find(_id, eventId))),
  ]);
  const summarized = asked.flatMap(({ _id, owner_id }, i) => {
    const name = summaries[i]?.metadata.name;
    return name === undefined ? [] : [{ emitter_id: _id, owner_id, event_id: eventId, name }];
  });
  const events = [...new Map([...summarized, ...stored].map(event => [event.emitter_id, event])).values()];
  return { events, isPartial: events.length === 0 && hasMore };
}

const readStored = (
  { mongo }: Stores,
  owners: string[],
  wanted: QueryFilter<StoredEvent>,
): Promise<KnownEvent[]> =>
  StoredEvents(mongo)
    .find(
      { ...wanted, owner_id: { $in: owners } },
      { emitter_id: 1, owner_id: 1, event_id: 1, name: 1 },
      options,
    )
    .limit(READ)
    .lean();

/** Visible characters, as publishers may choose them for an emit id. */
const EMIT_ID = /^[\x21-\x7e]{1,128}$/;

/** Finds events by emit id: that of a run's emission, or one that a publisher chose. */
export async function findByEmitId(platform: Stores, { q, owners }: Search): Promise<Found> {
  if (!EMIT_ID.test(q)) return { drafts: [] };
  const runId = runIdOf(q);
  const { emitters, hasMore } =
    runId === undefined
      ? await findEmitters(platform, owners, EMITTERS_OF_A_WORD)
      : { emitters: await emitterOfRun(platform, runId, owners), hasMore: false };
  const ids = emitters.map(({ _id }) => storedEventId(_id, q));
  const stored = await readStored(platform, owners, { _id: { $in: ids } });
  const [emitter] = emitters;
  if (stored.length > 0 || runId === undefined || emitter === undefined)
    return { drafts: stored.map(draftOf), isPartial: stored.length === 0 && hasMore };
  const event_id = await platform.eventLog.eventIdOf(emitter._id, q);
  if (event_id === null) return { drafts: [] };
  const { _id: emitter_id, owner_id } = emitter;
  return { drafts: [draftOf({ emitter_id, owner_id, event_id, name: "" })] };
}

interface Emitter {
  _id: string;
  owner_id: string;
}

async function emitterOfRun({ mongo }: Stores, runId: string, owners: string[]): Promise<Emitter[]> {
  const run = await RunRecords(mongo)
    .findOne({ _id: runId, owner_id: { $in: owners } }, { source_id: 1, owner_id: 1 }, options)
    .lean();
  return run ? [{ _id: run.source_id, owner_id: run.owner_id }] : [];
}

/** The newest sources and workflows of these accounts, and whether there are probably more. */
async function findEmitters(
  { mongo }: Stores,
  owners: string[],
  most: number,
): Promise<{ emitters: Emitter[]; hasMore: boolean }> {
  const owned = { owner_id: { $in: owners } };
  const [sources, workflows] = await Promise.all([
    Sources(mongo)
      .find({ ...owned, state: "ready" }, { owner_id: 1 }, options)
      // Of several accounts, another index is sometimes preferred, and all their sources sorted.
      .hint({ owner_id: 1, state: 1, _id: -1 })
      .sort({ _id: -1 })
      .limit(most)
      .lean(),
    Workflows(mongo).find(owned, { owner_id: 1 }, options).sort({ _id: -1 }).limit(most).lean(),
  ]);
  return {
    emitters: [...workflows, ...sources],
    hasMore: Math.max(workflows.length, sources.length) === most,
  };
}
