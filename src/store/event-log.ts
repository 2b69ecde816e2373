import { eventIdOf, eventMs, eventScore, SLOTS_PER_MS } from "../lib/event-id.ts";
import type { EventStream, RedisKeys } from "./keys.ts";
import { script } from "./lua.ts";
import type { RedisClient } from "./redis.ts";

/** Summaries kept of each emitter and stream (rest-api.md, section 8). */
export const EVENTS_KEPT = 100;
/** Emit ids remembered of each emitter at least, so that an emission enqueued twice gets the event id it had. */
const EMITS_REMEMBERED = 1000;
/**
 * For so long each of them is: longer than a job whose worker died takes to be given out again, so that what an
 * emission had begun is known however much came after it. Milliseconds.
 */
export const EMITS_REMEMBERED_MS = 120_000;
/** Some 10 MB, which an emitter that falls silent after a burst would keep. */
const MOST_REMEMBERED = 100_000;

const append = script<(string | number)[]>("append-events");
const reserve = script<string>("reserve-scores");
const remove = script<number>("remove-events");

/** What is stored of an event; its id and time are the sorted set's. */
export interface StoredSummary {
  event: Record<string, unknown>;
  metadata: { emit_id: string; name: string; emitter_id: string; summary?: string; truncated?: true };
}

export interface EventSummary extends StoredSummary {
  id: string;
  indexed_at_ms: number;
}

/** Bounds of a range of event ids, both inclusive; an absent one is open (rest-api.md, section 4.4). */
export interface EventRange {
  startId?: string | undefined;
  endId?: string | undefined;
}

/** `<ms>-<seq> <summary JSON>` as the feed channel carries it. */
export function parseFeedMessage(message: string): EventSummary {
  const space = message.indexOf(" ");
  return summaryOf(message.slice(0, space), message.slice(space + 1));
}

const summaryOf = (id: string, text: string): EventSummary => ({
  id,
  indexed_at_ms: eventMs(id),
  ...(JSON.parse(text) as StoredSummary),
});

/** The capped, time-ordered summaries of emitters, in Redis. */
export interface EventLog {
  /**
   * Stores emissions in their order; an emit id that was stored before gets the event id it had, and nothing is stored.
   * A cut summary is counted among its emitter's drops. Of what falls out of the stream it tells the event ids whose payload is stored elsewhere.
   */
  append(emitterId: string, stream: EventStream, entries: LogEntry[]): Promise<Appended>;
  /** Reserves the event ids of emissions that will be appended in any order; answers the first one's score. */
  reserve(emitterId: string, count: number): Promise<number>;
  /** Newest first; `after` and `before` are event ids. */
  page(
    emitterId: string,
    stream: EventStream,
    page: LogPage,
  ): Promise<{ rows: EventSummary[]; total: number }>;
  /** Oldest first, all that came after this id. */
  since(emitterId: string, stream: EventStream, eventId: string): Promise<EventSummary[]>;
  /** The newest event id given to this emitter; null before the first. */
  newestId(emitterId: string): Promise<string | null>;
  removeRange(emitterId: string, stream: EventStream, range: EventRange): Promise<number>;
  /** Forgets the emitter altogether. */
  forget(emitterId: string): Promise<void>;
}

export interface LogEntry {
  summary: StoredSummary;
  /** A score that `reserve` gave; without it the event gets the next one. */
  reserved?: number | undefined;
}

export interface Appended {
  /** One for each entry, in their order. */
  events: { eventId: string; isNew: boolean }[];
  trimmed: string[];
}

export interface LogPage {
  limit: number;
  after?: string | undefined;
  before?: string | undefined;
}

export const STREAMS: readonly EventStream[] = ["emits", "errors", "logs"];

/** The stream in which a channel's events are kept (design.md, guarantee 3). */
export function streamOf(channel: string): EventStream {
  if (channel === "$errors") return "errors";
  return channel === "$logs" ? "logs" : "emits";
}

export function openEventLog(redis: RedisClient, keys: RedisKeys): EventLog {
  const read = async (emitterId: string, stream: EventStream, ids: string[]): Promise<EventSummary[]> => {
    if (ids.length === 0) return [];
    const texts = await redis.hmget(keys.eventSummaries(emitterId, stream), ...ids);
    // An id without its summary was deleted between the two reads.
    return ids.flatMap((id, i) => (texts[i] ? [summaryOf(id, texts[i])] : []));
  };

  return {
    async append(emitterId, stream, entries) {
      const answer = await append(
        redis,
        [
          keys.lastEventScore(emitterId),
          keys.eventIds(emitterId, stream),
          keys.eventSummaries(emitterId, stream),
          keys.seenEmits(emitterId),
          keys.drops(emitterId),
        ],
        [
          EVENTS_KEPT,
          EMITS_REMEMBERED,
          EMITS_REMEMBERED_MS,
          MOST_REMEMBERED,
          keys.eventFeed(emitterId),
          SLOTS_PER_MS,
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
          eventId: eventIdOf(Number(answer[i * 2])),
          isNew: answer[i * 2 + 1] === 1,
        })),
        trimmed: answer.slice(entries.length * 2).map(String),
      };
    },

    async reserve(emitterId, count) {
      return Number(await reserve(redis, [keys.lastEventScore(emitterId)], [count, SLOTS_PER_MS]));
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
      const ids = await redis.zrangebyscore(
        keys.eventIds(emitterId, stream),
        `(${eventScore(eventId)}`,
        "+inf",
      );
      return read(emitterId, stream, ids);
    },

    async newestId(emitterId) {
      const score = await redis.get(keys.lastEventScore(emitterId));
      return score === null ? null : eventIdOf(Number(score));
    },

    removeRange(emitterId, stream, { startId, endId }) {
      const from = startId === undefined ? "-inf" : String(eventScore(startId));
      const to = endId === undefined ? "+inf" : String(eventScore(endId));
      return remove(
        redis,
        [keys.eventIds(emitterId, stream), keys.eventSummaries(emitterId, stream)],
        [from, to],
      );
    },

    async forget(emitterId) {
      await redis.del(
        keys.lastEventScore(emitterId),
        keys.seenEmits(emitterId),
        keys.drops(emitterId),
        ...STREAMS.flatMap(stream => [
          keys.eventIds(emitterId, stream),
          keys.eventSummaries(emitterId, stream),
        ]),
      );
    },
  };
}
