import { eventIdOf, eventMs, eventScore, SLOTS_PER_MS } from "../../lib/ids.ts";
import { stringifyJson } from "../../lib/json-text.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import type { EventStream, RedisKeys } from "../keys.ts";
import { script } from "../lua.ts";
import {
  type ArchiveDeps,
  deleteArchivedRange,
  EventArchives,
  findArchive,
  isHere,
} from "./event-archive.ts";
import {
  type EventRange,
  type EventSummary,
  STREAMS,
  type StoredSummary,
  summariesOf,
  summaryOf,
} from "./event-summary.ts";
import { openRestoring, readArchived, readPage } from "./restore-events.ts";

/** Summaries kept for each emitter and stream (docs/rest-api.md#limits). */
export const EVENTS_KEPT = LIMITS.eventsKept.value;
/** Least emit ids remembered for each emitter, so that an emission enqueued twice gets the same event id. */
const MIN_EMITS_REMEMBERED = 1000;
/**
 * How long each emit id is remembered at least: longer than it takes until the job of a dead worker starts again, so that
 * what an emission had begun is known however much came after it. Milliseconds.
 */
export const EMITS_REMEMBERED_MS = 120_000;
/** About 10 MB of further ones, for as long as EMITS_REMEMBERED_MS. */
const MAX_EMITS_REMEMBERED = 100_000;
/** After this much silence of an emitter, its emit ids are forgotten, and what else Redis has of it is archived. */
export const SILENT_EMITTER_MS = 24 * 3_600_000;

/** For how long it is remembered that an event was stored late: a reader resumes within this. Milliseconds. */
const LATE_KEPT_MS = 3_600_000;

/** The count of an emitter that falls silent is forgotten after this. Milliseconds. */
const UNHANDLED_KEPT_MS = 3_600_000;

/** What the script `reserve` takes to reserve so many event ids. */
export const reserveArgs = (count: number) => [count, SLOTS_PER_MS, UNHANDLED_KEPT_MS];
/** The keys of `reserve`. */
export const reserveKeys = (keys: RedisKeys, emitterId: string) => [
  keys.lastEventScore(emitterId),
  keys.unhandledEmissions(emitterId),
];

const append = script<(string | number)[]>("stored-events", "append-events");
const eventsSince = script<[place: string, late: number, ...values: string[]]>(
  "stored-events",
  "events-since",
);
const findEvent = script<[place: string, summary: string]>("find-event");
const reserve = script<string>("reserve", "reserve-scores");
const deleteEvents = script<number>("stored-events", "delete-events");

/**
 * The capped, time-ordered summaries of emitters: in Redis sorted sets, and of those that fell silent in archives
 * (docs/decisions/0032-memory-by-activity.md). Every method throws `unavailable`.
 */
export interface EventLog {
  /**
   * Stores emissions in order. An emit id that was stored before gets the same event id, and nothing is stored. A truncated
   * summary is counted among its emitter's drops. `trimmed` are the event ids that left the stream and whose payload is in
   * MongoDB.
   */
  append(emitterId: string, stream: EventStream, entries: LogEntry[]): Promise<AppendedEntries>;
  /** Reserves consecutive event ids for emissions that will be appended in any order; returns the first one's score. */
  reserve(emitterId: string, count: number): Promise<number>;
  /** Newest first; `after` and `before` are event ids. */
  page(
    emitterId: string,
    stream: EventStream,
    page: LogPage,
  ): Promise<{ rows: EventSummary[]; total: number }>;
  /**
   * Oldest first, all with a later id, and those with an earlier one that were stored after it: emissions of a run have
   * their ids before many workers store them. One of these may have been seen already.
   */
  since(emitterId: string, stream: EventStream, eventId: string): Promise<EventSummary[]>;
  /** The stored summary of an event; null if it was trimmed or deleted. */
  find(emitterId: string, eventId: string): Promise<EventSummary | null>;
  /** The event id that an emission received, if its emit id is still remembered; else null. */
  eventIdOf(emitterId: string, emitId: string): Promise<string | null>;
  /**
   * How many emissions have a reserved score and are not events yet: they wait in an outbox or on their queue. Too high for
   * up to an hour if some were given up.
   */
  unhandled(emitterId: string): Promise<number>;
  /** The newest event id given to this emitter; null before the first. */
  newestId(emitterId: string): Promise<string | null>;
  /** Returns how many summaries were deleted. */
  deleteRange(emitterId: string, stream: EventStream, range: EventRange): Promise<number>;
  /** Deletes everything kept for the emitter. */
  delete(emitterId: string): Promise<void>;
}

export interface LogEntry {
  summary: StoredSummary;
  /** A score that `reserve` returned; without it the event gets the next one. */
  reserved?: number | undefined;
}

export interface AppendedEntries {
  /** One for each entry, in order. */
  events: { eventId: string; isNew: boolean }[];
  trimmed: string[];
}

export interface LogPage {
  limit: number;
  after?: string | undefined;
  before?: string | undefined;
}

export function openEventLog(deps: ArchiveDeps): EventLog {
  const { redis, keys } = deps;
  const withEventsHere = openRestoring(deps);
  const scoreOf = ({ id }: EventSummary) => eventScore(id) ?? 0;

  /** Reads a stream by `here`, in Redis, and by `archived`, of all its events in order, if they may be archived. */
  const read = async <T>(
    emitterId: string,
    stream: EventStream,
    here: () => Promise<T | undefined>,
    archived: (events: EventSummary[]) => T,
  ): Promise<T> => {
    for (;;) {
      const found = await here();
      if (found !== undefined) return found;
      const events = await readArchived(deps, emitterId, stream);
      if (events) return archived(events);
    }
  };

  return {
    async append(emitterId, stream, entries) {
      const appended = await withEventsHere(emitterId, async () => {
        const result = await append(
          redis,
          [
            keys.lastEventScore(emitterId),
            keys.eventIds(emitterId, stream),
            keys.eventSummaries(emitterId, stream),
            keys.seenEmits(emitterId),
            keys.drops(emitterId),
            keys.recentEmits(emitterId),
            keys.unhandledEmissions(emitterId),
            keys.newestStored(emitterId),
            keys.lateEvents(emitterId),
            keys.eventsPlace(emitterId),
          ],
          [
            EVENTS_KEPT,
            MIN_EMITS_REMEMBERED,
            EMITS_REMEMBERED_MS,
            MAX_EMITS_REMEMBERED,
            SILENT_EMITTER_MS,
            keys.eventFeed(emitterId),
            SLOTS_PER_MS,
            LATE_KEPT_MS,
            ...entries.flatMap(({ summary, reserved }) => [
              summary.metadata.emit_id,
              stringifyJson(summary),
              reserved ?? "",
              summary.metadata.truncated ? 1 : 0,
            ]),
          ],
        );
        return result[0] === "absent" ? undefined : result;
      });
      return {
        events: entries.map((_, i) => ({
          eventId: eventIdOf(Number(appended[i * 2])),
          isNew: appended[i * 2 + 1] === 1,
        })),
        trimmed: appended.slice(entries.length * 2).map(String),
      };
    },

    async reserve(emitterId, count) {
      return Number(await reserve(redis, reserveKeys(keys, emitterId), reserveArgs(count)));
    },

    async page(emitterId, stream, { limit, after, before }) {
      const from = (cursor: string | undefined, open: string) =>
        cursor === undefined ? open : `(${eventScore(cursor)}`;
      const range =
        before === undefined
          ? ["ZREVRANGEBYSCORE", from(after, "+inf"), "-inf"]
          : ["ZRANGEBYSCORE", from(before, "-inf"), "+inf"];
      const here = async () => {
        const [place, total, ...pairs] = await readPage(deps, emitterId, stream, [...range, limit]);
        if (!isHere(place)) return undefined;
        const rows = summariesOf(pairs);
        return { rows: before === undefined ? rows : rows.reverse(), total };
      };
      return await read(emitterId, stream, here, events => {
        const total = events.length;
        if (before !== undefined) {
          const newer = events.filter(one => scoreOf(one) > (eventScore(before) ?? 0));
          return { rows: newer.slice(0, limit).reverse(), total };
        }
        const bound = after === undefined ? Number.POSITIVE_INFINITY : (eventScore(after) ?? 0);
        const older = events.filter(one => scoreOf(one) < bound);
        return { rows: older.reverse().slice(0, limit), total };
      });
    },

    async since(emitterId, stream, eventId) {
      const here = async () => {
        const [place, late, ...values] = await eventsSince(
          redis,
          [
            keys.eventsPlace(emitterId),
            keys.eventIds(emitterId, stream),
            keys.eventSummaries(emitterId, stream),
            keys.lateEvents(emitterId),
          ],
          [`(${eventScore(eventId)}`, eventMs(eventId)],
        );
        if (!isHere(place)) return undefined;
        const found = summariesOf(values.slice(late)).filter(({ id }) => id !== eventId);
        return found.sort((one, other) => scoreOf(one) - scoreOf(other));
      };
      // What was stored late is remembered for less time than it takes until an emitter is archived.
      return await read(emitterId, stream, here, events =>
        events.filter(one => scoreOf(one) > (eventScore(eventId) ?? 0)),
      );
    },

    async find(emitterId, eventId) {
      const [place, text] = await findEvent(
        redis,
        [keys.eventsPlace(emitterId), ...STREAMS.map(stream => keys.eventSummaries(emitterId, stream))],
        [eventId],
      );
      if (text !== "") return summaryOf(eventId, text);
      if (isHere(place)) return null;
      // What another process restores before this is read is still in the archive.
      const archive = await findArchive(deps, emitterId);
      const archived = STREAMS.flatMap(stream => archive?.streams[stream] ?? []);
      const [, summary] = archived.find(([id]) => id === eventId) ?? [];
      return summary === undefined ? null : summaryOf(eventId, summary);
    },

    async eventIdOf(emitterId, emitId) {
      const score =
        (await redis.zscore(keys.seenEmits(emitterId), emitId)) ??
        (await redis.zscore(keys.recentEmits(emitterId), emitId));
      return score === null ? null : eventIdOf(Number(score));
    },

    async unhandled(emitterId) {
      return Number((await redis.get(keys.unhandledEmissions(emitterId))) ?? 0);
    },

    async newestId(emitterId) {
      const score = await redis.get(keys.lastEventScore(emitterId));
      // Ids that are given in Redis are higher than those of the archive.
      const newest = score === null ? ((await findArchive(deps, emitterId))?.last_score ?? 0) : Number(score);
      return newest === 0 ? null : eventIdOf(newest);
    },

    async deleteRange(emitterId, stream, { startId, endId }) {
      const from = startId === undefined ? "-inf" : String(eventScore(startId));
      const to = endId === undefined ? "+inf" : String(eventScore(endId));
      const archive = await findArchive(deps, emitterId);
      const count = await withEventsHere(emitterId, async () => {
        const deleted = await deleteEvents(
          redis,
          [
            keys.eventIds(emitterId, stream),
            keys.eventSummaries(emitterId, stream),
            keys.eventsPlace(emitterId),
          ],
          [from, to],
        );
        return deleted === -1 ? undefined : deleted;
      });
      // What was archived is read again if Redis loses its data.
      if (archive) await deleteArchivedRange(deps, archive, stream, { startId, endId });
      return count;
    },

    async delete(emitterId) {
      await redis.del(
        keys.eventsPlace(emitterId),
        keys.lastEventScore(emitterId),
        keys.seenEmits(emitterId),
        keys.recentEmits(emitterId),
        keys.drops(emitterId),
        keys.unhandledEmissions(emitterId),
        keys.newestStored(emitterId),
        keys.lateEvents(emitterId),
        ...STREAMS.flatMap(stream => [
          keys.eventIds(emitterId, stream),
          keys.eventSummaries(emitterId, stream),
        ]),
      );
      await EventArchives(deps.mongo).deleteOne({ _id: emitterId });
    },
  };
}
