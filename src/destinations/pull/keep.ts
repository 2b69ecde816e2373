import type { ClientSession } from "mongoose";
import { eventScore } from "../../lib/ids.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import {
  NOTHING_PULLED,
  type PulledEvent,
  PulledEvents,
  type PulledFrom,
  type PullState,
} from "../../models/pulled-event.ts";
import { type Webhook, Webhooks } from "../../models/webhook.ts";
import type { Calling, Stores } from "../../platform.ts";
import { transaction } from "../../store/connections/mongo.ts";
import type { Message, StoredAt } from "../message.ts";
import { alertOfLag } from "./lag.ts";

/** The position of an event that is kept, or why it is not. */
export type Kept = number | "full" | "deleted";

/** What is known of the destination while its events are kept. */
export type Keeping = Pick<Webhook, "_id" | "owner_id" | "name"> & { pull?: PullState };

type Row = Omit<PulledEvent, "position">;

/**
 * Keeps messages that are not kept yet, in the order of their events, and gives each the next position; returns those of all.
 *
 * A cursor is a position, so none may become visible after a later one: an event that a slow process stores under an earlier
 * position would be behind the cursor by then, and never be seen. Each transaction therefore writes the destination's `last`, and
 * MongoDB lets only one of two such transactions commit: positions are committed in their order, whatever the clocks and the speed
 * of processes. Who has read `last` sees everything up to it.
 */
export async function keep(platform: Calling, listenerId: string, messages: Message[]): Promise<Kept[]> {
  const rows = messages
    .toSorted((one, other) => (eventScore(one.eventId) ?? 0) - (eventScore(other.eventId) ?? 0))
    .map(message => rowOf(platform, listenerId, message));
  const kept = await transaction(platform.mongo, session => keepRows(platform, listenerId, rows, session));
  if (typeof kept === "string") return messages.map(() => kept);
  // Who waits and is not told looks again at the end of its time.
  void platform.redis.publish(platform.keys.pullFeed(listenerId), "").catch(() => undefined);
  await alertOfLag(platform, kept.destination);
  return messages.map(message => kept.positions.get(idOf(message)) as number);
}

/** Returns the positions of rows by their ids, those that were kept before as they were, and the destination as it is then. */
async function keepRows(
  { mongo, clock }: Stores,
  listenerId: string,
  rows: Row[],
  session: ClientSession,
): Promise<{ positions: Map<string, number>; destination: Keeping } | "full" | "deleted"> {
  const destination = await Webhooks(mongo)
    .findById(listenerId, { owner_id: 1, name: 1, pull: 1 })
    .session(session)
    .lean<Keeping | null>();
  if (!destination) return "deleted";
  const { last, acknowledged, waiting_since_ms } = destination.pull ?? NOTHING_PULLED;
  const known = await PulledEvents(mongo)
    .find({ _id: { $in: rows.map(({ _id }) => _id) } }, { position: 1 })
    .session(session)
    .lean<Pick<PulledEvent, "_id" | "position">[]>();
  const positions = new Map(known.map(({ _id, position }) => [_id, position]));
  // A message may be there twice.
  const missing = [...new Map(rows.map(row => [row._id, row])).values()].filter(
    ({ _id }) => !positions.has(_id),
  );
  if (missing.length === 0) return { positions, destination };
  if (last - acknowledged + missing.length > LIMITS.pulledEvents.value) return "full";
  const fresh = missing.map((row, i): PulledEvent => ({ ...row, position: last + i + 1 }));
  await PulledEvents(mongo).insertMany(fresh, { session });
  const pull: PullState = {
    last: last + fresh.length,
    acknowledged,
    waiting_since_ms: last > acknowledged ? waiting_since_ms : clock(),
  };
  await Webhooks(mongo).updateOne({ _id: listenerId }, { $set: { pull } }, { session });
  for (const { _id, position } of fresh) positions.set(_id, position);
  return { positions, destination: { ...destination, pull } };
}

const idOf = ({ id, stored }: Message): string => `${id}.${stored?.schedule ?? 0}`;

function rowOf({ clock }: Stores, listenerId: string, message: Message): Row {
  const { id, emitterId, eventId, eventName, body, stored } = message;
  return {
    _id: idOf(message),
    listener_id: listenerId,
    delivery_id: id,
    ...{ emitter_id: emitterId, event_id: eventId, event_name: eventName },
    bytes: Buffer.byteLength(body),
    ...(stored ? { stored: placeOf(stored) } : { body }),
    created_at: new Date(clock()),
  };
}

const placeOf = ({ schedule: _schedule, ...place }: StoredAt): PulledFrom => place;
