import { eventMs } from "../../lib/ids.ts";
import { JsonText } from "../../lib/json-text.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import { TransformedPayloads } from "../../models/delivery.ts";
import { StoredEvents } from "../../models/event.ts";
import { NOTHING_PULLED, type PulledEvent, PulledEvents } from "../../models/pulled-event.ts";
import type { Destination } from "../../models/webhook.ts";
import type { Stores } from "../../platform.ts";
import { selectSendable } from "../attempt/prepare.ts";
import { cursorOf } from "./cursor.ts";
import type { Pulled } from "./schema.ts";

/**
 * So long an event may be on its way to MongoDB that was kept already: its worker was killed, and the emission comes again. Who deletes
 * an event that waits holds up what is behind it for as long. Milliseconds.
 */
const STORED_LATE_MS = 600_000;

/**
 * Returns what is kept for a listener behind a position, and behind what is acknowledged, as the listener was read before: everything
 * up to its `last` is there then, and what comes later is not looked at. What is missing among so many positions is gone, and said so.
 */
export async function readKept(
  platform: Stores,
  listener: Destination,
  { behind, limit }: { behind: number; limit: number },
): Promise<Pulled> {
  const { last, acknowledged } = listener.pull ?? NOTHING_PULLED;
  const from = Math.max(behind, acknowledged);
  const found = await PulledEvents(platform.mongo)
    .find({ listener_id: listener._id, position: { $gt: from, $lte: last } })
    .sort({ position: 1 })
    .limit(limit)
    .lean<PulledEvent[]>();
  const fit = found.slice(0, fitting(found));
  const bodies = await findBodies(platform, listener, fit);
  const rows = fit.slice(0, await beforeEarly(platform, fit, bodies));
  // Fewer than wanted are all that there are.
  const isAll = found.length < limit && rows.length === found.length;
  const to = isAll ? last : (rows.at(-1)?.position ?? from);
  const events = rows.flatMap(row => {
    const body = bodies.get(row._id);
    return body === undefined ? [] : [present(listener, row, body)];
  });
  return {
    events,
    cursor: cursorOf(listener._id, to),
    truncated: events.length < to - from,
    has_more: to < last,
  };
}

/**
 * Returns how many rows come before the first one whose event is not stored yet: first attempts are made while their events are on the way
 * to MongoDB. One that stays away for longer was deleted.
 */
async function beforeEarly(
  { mongo, clock }: Stores,
  rows: PulledEvent[],
  bodies: ReadonlyMap<string, string>,
): Promise<number> {
  const isYoung = ({ created_at }: PulledEvent) => clock() - created_at.getTime() < STORED_LATE_MS;
  const lacking = rows.filter(row => row.stored && !bodies.has(row._id) && isYoung(row));
  if (lacking.length === 0) return rows.length;
  const ids = lacking.map(({ stored }) => stored?.emit_id ?? "");
  const there = await StoredEvents(mongo)
    .find({ _id: { $in: ids } }, { _id: 1 })
    .lean();
  const isThere = new Set(there.map(({ _id }) => _id));
  const early = lacking.find(({ stored }) => !isThere.has(stored?.emit_id ?? ""));
  return early ? rows.indexOf(early) : rows.length;
}

/** Returns how many of these fit one response, at least one. */
function fitting(rows: PulledEvent[]): number {
  let bytes = 0;
  const beyond = rows.findIndex((row, i) => {
    bytes += row.bytes;
    return i > 0 && bytes > LIMITS.pulledBytes.value;
  });
  return beyond < 0 ? rows.length : beyond;
}

/**
 * Returns the bodies of kept events by their row, without those that are gone, or of an emitter that their subscriber can't access
 * now (docs/design.md#guarantee-6): they may have waited for weeks.
 */
async function findBodies(
  platform: Stores,
  { owner_id }: Destination,
  rows: PulledEvent[],
): Promise<Map<string, string>> {
  const pointing = rows.flatMap(({ _id, delivery_id, stored }) =>
    stored ? [{ _id, delivery_id, owner_id, ...stored }] : [],
  );
  const bodies = new Map(rows.flatMap(({ _id, body }) => (body === undefined ? [] : [[_id, body] as const])));
  if (pointing.length === 0) return bodies;
  const sendable = (await selectSendable(platform, pointing)).map(({ row }) => row);
  const ofFunctions = sendable.filter(({ is_transformed }) => is_transformed);
  const [events, made] = await Promise.all([
    StoredEvents(platform.mongo)
      .find({ _id: { $in: sendable.map(({ emit_id }) => emit_id) } }, { event: 1 })
      .lean(),
    ofFunctions.length === 0
      ? []
      : TransformedPayloads(platform.mongo)
          .find({ _id: { $in: ofFunctions.map(({ delivery_id }) => delivery_id) } }, { body: 1 })
          .lean(),
  ]);
  const eventOf = new Map(events.map(({ _id, event }) => [_id, event]));
  const madeOf = new Map(made.map(({ _id, body }) => [_id, body]));
  for (const { _id, delivery_id, emit_id } of sendable) {
    const body = madeOf.get(delivery_id) ?? eventOf.get(emit_id);
    if (body !== undefined) bodies.set(_id, body);
  }
  return bodies;
}

const present = (
  { _id: listenerId }: Destination,
  { delivery_id, event_id, emitter_id, event_name, position }: PulledEvent,
  body: string,
): Pulled["events"][number] => ({
  id: delivery_id,
  event_id,
  emitter_id,
  event_name,
  emitted_at_ms: eventMs(event_id),
  event: new JsonText(body),
  cursor: cursorOf(listenerId, position),
});
