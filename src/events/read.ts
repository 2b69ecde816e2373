import { type StoredEvent, StoredEvents, storedEventId } from "../models/event.ts";
import type { Platform } from "../platform.ts";
import type { EventSummary, LogPage } from "../store/event-log.ts";
import type { EventStream } from "../store/keys.ts";
import { summaryEvent } from "./append.ts";

type Deps = Pick<Platform, "mongo" | "eventLog" | "clock">;

export interface SummaryPage {
  rows: EventSummary[];
  totalCount: number;
  startCursor: string | null;
  endCursor: string | null;
}

/** Returns a page of an emitter's summaries, newest first; `expand` returns each event whole (docs/rest-api.md#source-events). */
export async function readSummaries(
  platform: Deps,
  emitterId: string,
  stream: EventStream,
  page: LogPage & { expand: boolean },
): Promise<SummaryPage> {
  const { rows, total } = await platform.eventLog.page(emitterId, stream, page);
  return {
    rows: page.expand ? await expand(platform, emitterId, rows) : rows,
    totalCount: total,
    startCursor: rows[0]?.id ?? null,
    endCursor: rows.at(-1)?.id ?? null,
  };
}

/** A payload is stored a moment after its summary (docs/decisions/0013-routing-cache.md), so young ones are read again. */
const STORED_SOON_MS = 2000;
const READ_AGAIN_MS = 25;
const MAX_READS = 8;

async function expand(platform: Deps, emitterId: string, rows: EventSummary[]): Promise<EventSummary[]> {
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
    if (missing.length > 0) await new Promise(resolve => setTimeout(resolve, READ_AGAIN_MS));
  }
  return rows.map(row => {
    const payload = payloads.get(idOf(row));
    if (!payload) return row;
    const { truncated: _, ...metadata } = row.metadata;
    return { ...row, event: summaryEvent(payload.name, JSON.parse(payload.event)), metadata };
  });
}
