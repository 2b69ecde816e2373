import { type Connection, Schema } from "mongoose";
import { eventScore } from "../lib/ids.ts";
import { type EventRange, STREAMS } from "./event-summary.ts";
import type { EventStream, RedisKeys } from "./keys.ts";
import { collection, schemaOptions } from "./mongo.ts";
import type { RedisClient } from "./redis.ts";

export interface ArchiveDeps {
  redis: RedisClient;
  keys: RedisKeys;
  mongo: Connection;
}

/** Id and stored summary of an event. */
export type ArchivedEvent = [id: string, summary: string];

/**
 * What Redis held of an emitter that fell silent. It is what the emitter has only while `eventsPlace` in Redis does not say
 * that its events are there; after that it is what they were (docs/decisions/0032-memory-by-activity.md).
 */
export interface EventArchive {
  /** The emitter's id. */
  _id: string;
  /** Changes each time the emitter is archived. */
  version: string;
  archived_at: Date;
  /** The newest event id given to this emitter, as its score; 0 if it never had one. */
  last_score: number;
  /** Reason and count. */
  drops: [reason: string, count: number][];
  /** Oldest first. */
  streams: Record<EventStream, ArchivedEvent[]>;
}

export const EventArchives = collection<EventArchive>(
  "event_archives",
  new Schema<EventArchive>(
    {
      _id: { type: String, required: true },
      version: { type: String, required: true },
      archived_at: { type: Date, required: true },
      last_score: { type: Number, required: true },
      drops: { type: Schema.Types.Mixed, required: true },
      streams: { type: Schema.Types.Mixed, required: true },
    },
    schemaOptions,
  ),
);

/** Returns since when a place says that an emitter's events are in Redis, in Unix milliseconds; null if it says no such thing. */
export function hereSince(place: string): number | null {
  const [, ms] = /^here ([0-9]+)$/.exec(place) ?? [];
  return ms === undefined ? null : Number(ms);
}

/** True if a place says that an emitter's events are in Redis. */
export const isHere = (place: string): boolean => hereSince(place) !== null;

/** Returns an emitter's archive; null if it has none. Throws `unavailable`. */
export async function findArchive(
  { mongo }: Pick<ArchiveDeps, "mongo">,
  emitterId: string,
): Promise<EventArchive | null> {
  return await EventArchives(mongo).findById(emitterId).lean<EventArchive>();
}

/** The keys that an archive is made of: those of `snapshot` and of the script that restores it. */
export const archiveKeys = (keys: RedisKeys, emitterId: string): string[] => [
  keys.eventsPlace(emitterId),
  keys.lastEventScore(emitterId),
  keys.drops(emitterId),
  ...STREAMS.flatMap(stream => [keys.eventIds(emitterId, stream), keys.eventSummaries(emitterId, stream)]),
];

/**
 * Deletes a range of ids, both inclusive, from a stream of an archive, unless it was replaced since it was read. Throws
 * `unavailable`.
 */
export async function deleteArchivedRange(
  { mongo }: Pick<ArchiveDeps, "mongo">,
  archive: EventArchive,
  stream: EventStream,
  { startId, endId }: EventRange,
): Promise<void> {
  const first = startId === undefined ? Number.NEGATIVE_INFINITY : (eventScore(startId) ?? 0);
  const last = endId === undefined ? Number.POSITIVE_INFINITY : (eventScore(endId) ?? 0);
  const isInside = ([id]: ArchivedEvent) => {
    const score = eventScore(id) ?? 0;
    return score >= first && score <= last;
  };
  const events = archive.streams[stream];
  if (!events.some(isInside)) return;
  const kept = events.filter(event => !isInside(event));
  await EventArchives(mongo).updateOne(
    { _id: archive._id, version: archive.version },
    { $set: { [`streams.${stream}`]: kept } },
  );
}
