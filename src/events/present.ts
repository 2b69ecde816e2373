import type { EventSummary } from "../store/event-summary.ts";

/** Returns an event with the short field names that existing clients read; they call the default channel `emit`. */
export function eventRow({ id, indexed_at_ms, event, metadata }: EventSummary) {
  return { id, e: event.raw_event, k: metadata.name || "emit", ts: indexed_at_ms, metadata };
}
