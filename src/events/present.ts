import type { EventSummary } from "../store/event-summary.ts";
import { eventOf } from "./read.ts";

/** Returns an event with the short field names that existing clients read; they call the default channel `emit`. */
export function eventRow(summary: EventSummary) {
  const { id, indexed_at_ms, metadata } = summary;
  return { id, e: eventOf(summary), k: metadata.name || "emit", ts: indexed_at_ms, metadata };
}
