import { eventIdOf, eventMs, eventScore, SLOTS_PER_MS } from "../lib/event-id.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { EventStream, RedisKeys } from "./keys.ts";
import { script } from "./lua.ts";
import type { RedisClient } from "./redis.ts";

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
/** After this much silence of an emitter, its emit ids are forgotten. */
const SILENT_EMITTER_MS = 24 * 3_600_000;

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

const append = script<(string | number)[]>("append-events");
const reserve = script<string>("reserve", "reserve-scores");
const deleteEvents = script<number>("delete-events");

/** The stored part of a summary; id and time come from the sorted set. */
export interface StoredSummary {
  event: Record<string, unknown>;
  metadata: {
    emit_id: string;
    name: string;
    emitter_id: string;
    summary?: string;
    ts?: number;
    truncated?: true;
  };
}

export interface EventSummary extends StoredSummary {
  id: string;
  indexed_at_ms: number;
}

/** Bounds of a range of event ids, both inclusive; an absent bound is open (docs/rest-api.md#source-events). */
export interface EventRange {
  startId?: string | undefined;
  endId?: string | undefined;
}

/** Parses `<ms>-<seq> <summary JSON>`, a message of the feed channel. */
export function parseFeedMessage(message: string): EventSummary {
  const space = message.indexOf(" ");
  return summaryOf(message.slice(0, space), message.slice(space + 1));
}

const summaryOf = (id: string, text: string): EventSummary => ({
  id,
  indexed_at_ms: eventMs(id),
  ...(JSON.parse(text) as StoredSummary),
});

/** The capped, time-ordered summaries of emitters, in Redis sorted sets. */
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

export const STREAMS: readonly EventStream[] = ["emits", "errors", "logs"];

/** Returns the stream in which a channel's events are kept (docs/design.md#guarantee-3). */
export function streamOf(channel: string): EventStream {
  if (channel === "$errors") return "errors";
  return channel === "$logs" ? "logs" : "emits";
}

export function openEventLog(redis: RedisClient, keys: RedisKeys): EventLog {
  const read = async (emitterId: string, stream: EventStream, ids: string[]): Promise<EventSummary[]> => {
    if (ids.length === 0) return [];
    const texts = await redis.hmget(keys.eventSummaries(emitterId, stream), ...ids);
    // An id without a summary was deleted between the two reads.
    return ids.flatMap((id, i) => (texts[i] ? [summaryOf(id, texts[i])] : []));
  };

  return {
    async append(emitterId, stream, entries) {
      const appended = await append(
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
            JSON.stringify(summary),
            reserved ?? "",
            summary.metadata.truncated ? 1 : 0,
          ]),
        ],
      );
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
      const ids = keys.eventIds(emitterId, stream);
      const total = await redis.zcard(ids);
      if (before !== undefined) {
        const newer = await redis.zrangebyscore(ids, `(${eventScore(before)}`, "+inf", "LIMIT", 0, limit);
        return { rows: await read(emitterId, stream, newer.reverse()), total };
      }
      const from = after === undefined ? "+inf" : `(${eventScore(after)}`;
      const older = await redis.zrevrangebyscore(ids, from, "-inf", "LIMIT", 0, limit);
      return { rows: await read(emitterId, stream, older), total };
    },

    async since(emitterId, stream, eventId) {
      const [later, late] = await Promise.all([
        redis.zrangebyscore(keys.eventIds(emitterId, stream), `(${eventScore(eventId)}`, "+inf"),
        redis.zrangebyscore(keys.lateEvents(emitterId), eventMs(eventId), "+inf"),
      ]);
      const ids = [...new Set([...late, ...later])].filter(id => id !== eventId);
      const scoreOf = (id: string) => eventScore(id) ?? 0;
      return read(
        emitterId,
        stream,
        ids.sort((one, other) => scoreOf(one) - scoreOf(other)),
      );
    },

    async find(emitterId, eventId) {
      for (const stream of STREAMS) {
        const [summary] = await read(emitterId, stream, [eventId]);
        if (summary) return summary;
      }
      return null;
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
      return score === null ? null : eventIdOf(Number(score));
    },

    deleteRange(emitterId, stream, { startId, endId }) {
      const from = startId === undefined ? "-inf" : String(eventScore(startId));
      const to = endId === undefined ? "+inf" : String(eventScore(endId));
      return deleteEvents(
        redis,
        [keys.eventIds(emitterId, stream), keys.eventSummaries(emitterId, stream)],
        [from, to],
      );
    },

    async delete(emitterId) {
      await redis.del(
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
    },
  };
}
