import type { Platform } from "../platform.ts";
import type { EventSummary, LogPage } from "../store/event-log.ts";
import type { EventStream } from "../store/keys.ts";
import { summaryEvent } from "./emit.ts";
import { payloadId, StoredEvents } from "./model.ts";

type Stores = Pick<Platform, "mongo" | "eventLog">;

export interface SummaryPage {
  rows: EventSummary[];
  totalCount: number;
  startCursor: string | null;
  endCursor: string | null;
}

/** A page of an emitter's stored events, newest first; `expand` gives each event whole (rest-api.md, section 4.4). */
export async function readSummaries(
  platform: Stores,
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

async function expand(platform: Stores, emitterId: string, rows: EventSummary[]): Promise<EventSummary[]> {
  const idOf = (row: EventSummary) => payloadId(emitterId, row.metadata.emit_id);
  const cut = rows.filter(row => row.metadata.truncated);
  if (cut.length === 0) return rows;
  const stored = await StoredEvents(platform.mongo)
    .find({ _id: { $in: cut.map(idOf) } })
    .lean();
  const wholes = new Map(stored.map(event => [event._id, event]));
  return rows.map(row => {
    const whole = wholes.get(idOf(row));
    if (!whole) return row;
    const { truncated: _, ...metadata } = row.metadata;
    return { ...row, event: summaryEvent(whole.name, JSON.parse(whole.event)), metadata };
  });
}
