import { eventMs } from "../lib/ids.ts";
import { JsonText } from "../lib/json-text.ts";
import type { Stores } from "../platform.ts";
import { type EventSummary, streamOf } from "../store/events/event-summary.ts";
import { checkFilter, explainMismatch, matches } from "../subscriptions/filter.ts";
import { eventOf, readSummaries } from "./read.ts";

/** As many events as an emitter's stream keeps. */
const TESTED = 100;

export interface FilterTest {
  /** How many events of the channel were tried, and how many of them match. */
  tested: number;
  matched: number;
  /** Newest first. */
  results: FilterResult[];
}

interface FilterResult {
  event_id: string;
  emitted_at_ms: number;
  matched: boolean;
  /** Why it does not match; null if it does. */
  reason: string | null;
  /** As its summary shows it. */
  event: EventSummary["event"];
}

/**
 * Tries a filter on the last events of an emitter's channel, without storing it. Throws `invalid` with the path of what is
 * wrong with the filter (docs/filters.md).
 */
export async function testFilter(
  platform: Stores,
  { emitterId, channel, filter }: { emitterId: string; channel: string; filter: unknown },
): Promise<FilterTest> {
  checkFilter(filter);
  const read = (expand: boolean) =>
    readSummaries(platform, emitterId, streamOf(channel), { limit: TESTED, expand });
  const [shown, whole] = await Promise.all([read(false), read(true)]);
  const summaries = new Map(shown.rows.map(row => [row.id, row.event]));
  const results = whole.rows
    .filter(row => row.metadata.name === channel)
    .map((row): FilterResult => {
      const event = eventOf(row).value;
      const isMatch = matches(filter, event);
      return {
        event_id: row.id,
        emitted_at_ms: eventMs(row.id),
        matched: isMatch,
        reason: isMatch ? null : explainMismatch(filter, event),
        event: summaries.get(row.id) ?? new JsonText("{}"),
      };
    });
  return { tested: results.length, matched: results.filter(({ matched }) => matched).length, results };
}
