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

/** A page of an emitter's stored events, newest first; `expand` gives each event whole (rest-api.md, section 4.4). */
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

/** An event is stored some moments after its summary (docs/decisions/0013): younger ones are looked for again. */
const STORED_WITHIN_MS = 2000;
const LOOK_AGAIN_MS = 25;
const MOST_LOOKS = 8;

async function expand(platform: Deps, emitterId: string, rows: EventSummary[]): Promise<EventSummary[]> {
  const idOf = (row: EventSummary) => storedEventId(emitterId, row.metadata.emit_id);
  const wholes = new Map<string, StoredEvent>();
  let missing = rows.filter(row => row.metadata.truncated);
  for (let looks = 1; missing.length > 0; looks += 1) {
    const stored = await StoredEvents(platform.mongo)
      .find({ _id: { $in: missing.map(idOf) } })
      .lean<StoredEvent[]>();
    for (const event of stored) wholes.set(event._id, event);
    const youngestMs = platform.clock() - STORED_WITHIN_MS;
    missing = missing.filter(row => !wholes.has(idOf(row)) && row.indexed_at_ms > youngestMs);
    if (looks === MOST_LOOKS) break;
    if (missing.length > 0) await new Promise(resolve => setTimeout(resolve, LOOK_AGAIN_MS));
  }
  return rows.map(row => {
    const whole = wholes.get(idOf(row));
    if (!whole) return row;
    const { truncated: _, ...metadata } = row.metadata;
    return { ...row, event: summaryEvent(whole.name, JSON.parse(whole.event)), metadata };
  });
}
