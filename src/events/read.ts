import { setTimeout as delay } from "node:timers/promises";
import { JsonText, parseAround } from "../lib/json-text.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { type StoredEvent, StoredEvents, storedEventId } from "../models/event.ts";
import type { Stores } from "../platform.ts";
import type { LogPage } from "../store/events/event-log.ts";
import type { EventSummary } from "../store/events/event-summary.ts";
import type { EventStream } from "../store/keys.ts";
import { summaryEvent } from "./append.ts";

export interface SummaryPage {
  rows: EventSummary[];
  totalCount: number;
  startCursor: string | null;
  endCursor: string | null;
}

/**
 * Returns a page of an emitter's summaries, newest first; `expand` returns each event whole
 * (docs/rest-api.md#source-events). A page of large events ends early, after the event with which it exceeds
 * `LIMITS.pageEventBytes`.
 */
export async function readSummaries(
  platform: Stores,
  emitterId: string,
  stream: EventStream,
  page: LogPage & { expand: boolean },
): Promise<SummaryPage> {
  const found = await platform.eventLog.page(emitterId, stream, page);
  const rows = page.expand
    ? await expandUntilFull(platform, emitterId, found.rows, page.before !== undefined)
    : found.rows;
  return {
    rows,
    totalCount: found.total,
    startCursor: rows[0]?.id ?? null,
    endCursor: rows.at(-1)?.id ?? null,
  };
}

/** So many events are read at once that together they can't exceed the bound of a page by much. */
const EXPANDED_AT_ONCE = 8;

/** Expands events from the page's cursor on: those next to it stay in a page that ends early. */
async function expandUntilFull(
  platform: Stores,
  emitterId: string,
  rows: EventSummary[],
  backwards: boolean,
): Promise<EventSummary[]> {
  const inOrder = backwards ? rows.toReversed() : rows;
  const expanded: EventSummary[] = [];
  let bytes = 0;
  for (let start = 0; start < inOrder.length; start += EXPANDED_AT_ONCE) {
    for (const row of await expand(platform, emitterId, inOrder.slice(start, start + EXPANDED_AT_ONCE))) {
      if (bytes >= LIMITS.pageEventBytes.value) break;
      expanded.push(row.summary);
      bytes += row.bytes;
    }
    if (bytes >= LIMITS.pageEventBytes.value) break;
  }
  return backwards ? expanded.reverse() : expanded;
}

/** A payload is stored a moment after its summary (docs/decisions/0013-routing-cache.md), so young ones are read again. */
const STORED_SOON_MS = 2000;
const READ_AGAIN_MS = 25;
const MAX_READS = 8;

/** Returns an event whole; if its payload is no longer kept, as it is, with the mark that it is truncated. */
export const expandSummary = async (
  platform: Stores,
  emitterId: string,
  summary: EventSummary,
): Promise<EventSummary> => (await expand(platform, emitterId, [summary]))[0]?.summary ?? summary;

/** Returns the events whole, each with the length of its JSON if it had to be read. */
async function expand(
  platform: Stores,
  emitterId: string,
  rows: EventSummary[],
): Promise<{ summary: EventSummary; bytes: number }[]> {
  const idOf = (row: EventSummary) => storedEventId(emitterId, row.metadata.emit_id);
  const payloads = new Map<string, StoredEvent>();
  let missing = rows.filter(row => row.metadata.truncated);
  for (let reads = 1; missing.length > 0; reads += 1) {
    const stored = await StoredEvents(platform.mongo)
      .find({ _id: { $in: missing.map(idOf) } })
      .lean<StoredEvent[]>();
    for (const event of stored) payloads.set(event._id, event);
    const youngestMs = platform.clock() - STORED_SOON_MS;
    missing = missing.filter(row => !payloads.has(idOf(row)) && row.indexed_at_ms > youngestMs);
    if (reads === MAX_READS) break;
    if (missing.length > 0) await delay(READ_AGAIN_MS);
  }
  return rows.map(row => {
    const payload = payloads.get(idOf(row));
    if (!payload) return { summary: row, bytes: 0 };
    const { truncated: _, ...metadata } = row.metadata;
    const event = new JsonText(summaryEvent(payload.name, new JsonText(payload.event)));
    return { summary: { ...row, event, metadata }, bytes: payload.event.length };
  });
}

/** Where an event is kept whole, and the event. */
type Payload = { place: "stored" | "in-summary"; event: JsonText } | { place: "gone" };

interface Kept {
  emitter: { id: string };
  stored: StoredEvent | null;
  summary: EventSummary | null;
}

/** Returns an event as its listeners receive it, from where it is kept whole; `gone` if it is nowhere. */
export async function readPayload(platform: Stores, { emitter, stored, summary }: Kept): Promise<Payload> {
  if (stored) return { place: "stored", event: new JsonText(stored.event) };
  if (!summary) return { place: "gone" };
  if (!summary.metadata.truncated) return { place: "in-summary", event: eventOf(summary) };
  // A young event's summary is there a moment before its payload.
  const whole = await expandSummary(platform, emitter.id, summary);
  return whole.metadata.truncated ? { place: "gone" } : { place: "stored", event: eventOf(whole) };
}

/** Returns the event as it was emitted, as far as its summary holds it. */
export function eventOf({ event }: EventSummary): JsonText {
  const { raw_event } = parseAround(event.text, { member: "raw_event" }) as { raw_event?: JsonText };
  return raw_event ?? event;
}

/** Returns an event with the short field names that existing clients read; they call the default channel `emit`. */
export function eventRow(summary: EventSummary) {
  const { id, indexed_at_ms, metadata } = summary;
  return { id, e: eventOf(summary), k: metadata.name || "emit", ts: indexed_at_ms, metadata };
}
