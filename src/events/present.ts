import type { EventSummary } from "../store/event-log.ts";

/** The short row of an event; `k` names the default channel as existing clients know it. */
export function eventRow({ id, indexed_at_ms, event, metadata }: EventSummary) {
  return { id, e: event.raw_event, k: metadata.name || "emit", ts: indexed_at_ms, metadata };
}
