import { type Connection, Schema } from "mongoose";
import { eventScore, newToken, SLOTS_PER_MS } from "../../lib/ids.ts";
import { collection, schemaOptions } from "../connections/mongo.ts";
import type { RedisClient } from "../connections/redis.ts";
import type { EventStream, RedisKeys } from "../keys.ts";
import { script } from "../lua.ts";
import { type EventRange, STREAMS } from "./event-summary.ts";

export interface ArchiveDeps {
  redis: RedisClient;
  keys: RedisKeys;
  mongo: Connection;
}

/** Id and stored summary of an event. */
type ArchivedEvent = [id: string, summary: string];

/**
 * What Redis held of an emitter that fell silent. It is what the emitter has only while `eventsPlace` in Redis does not say
 * that its events are there; after that it is what they were (docs/decisions/0032-memory-by-activity.md).
 */
interface EventArchive {
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

const snapshot = script<string[]>("stored-events", "event-snapshot", "snapshot-events");
const removeArchived = script<number>("stored-events", "event-snapshot", "remove-archived");

/** For this long a read of MongoDB right after a failover, which may lag behind, is found out. Milliseconds. */
const VERSION_KEPT_MS = 600_000;

/**
 * Moves what Redis holds of those of the emitters that were silent for `silentMs` to their archives in MongoDB; returns
 * which it moved. An archive is written before anything is removed from Redis, and nothing is if something came in
 * between. Throws `unavailable`; safe to repeat.
 */
export async function archiveEvents(
  deps: ArchiveDeps,
  emitterIds: readonly string[],
  silentMs: number,
): Promise<string[]> {
  const read = await Promise.all(emitterIds.map(id => readSilent(deps, id, silentMs)));
  const silent = read.flatMap(one => one ?? []);
  if (silent.length === 0) return [];
  await EventArchives(deps.mongo).bulkWrite(
    silent.map(({ archive }) => ({
      replaceOne: { filter: { _id: archive._id }, replacement: archive, upsert: true },
    })),
    { ordered: false },
  );
  const removed = await Promise.all(
    silent.map(({ archive: { _id, version }, digest }) =>
      removeArchived(deps.redis, archiveKeys(deps.keys, _id), [digest, version, VERSION_KEPT_MS]),
    ),
  );
  const changed = silent.filter((_, i) => removed[i] === 0);
  await removeArchives(
    deps,
    changed.map(({ archive }) => archive),
  );
  return silent.filter((_, i) => removed[i] === 1).map(({ archive }) => archive._id);
}

/** Deletes archives that were never valid, because their emitters' events stayed in Redis. */
async function removeArchives({ mongo }: ArchiveDeps, archives: EventArchive[]): Promise<void> {
  if (archives.length === 0) return;
  await EventArchives(mongo).deleteMany({
    version: { $in: archives.map(({ version }) => version) },
    _id: { $in: archives.map(({ _id }) => _id) },
  });
}

async function readSilent(
  { redis, keys }: ArchiveDeps,
  emitterId: string,
  silentMs: number,
): Promise<{ archive: EventArchive; digest: string } | null> {
  const [digest, lastScore, ...rest] = await snapshot(redis, archiveKeys(keys, emitterId), [
    silentMs,
    SLOTS_PER_MS,
  ]);
  if (digest === undefined) return null;
  const parts = rest[Symbol.iterator]();
  /** The next list: its length, and so many values, two by two. */
  const readPairs = (): [string, string][] => {
    const length = Number(parts.next().value);
    return Array.from({ length: length / 2 }, () => [String(parts.next().value), String(parts.next().value)]);
  };
  const archive: EventArchive = {
    _id: emitterId,
    version: newToken(),
    archived_at: new Date(),
    last_score: Number(lastScore),
    drops: readPairs().map(([reason, count]) => [reason, Number(count)]),
    streams: Object.fromEntries(STREAMS.map(stream => [stream, readPairs() as ArchivedEvent[]])) as Record<
      EventStream,
      ArchivedEvent[]
    >,
  };
  return { archive, digest };
}
