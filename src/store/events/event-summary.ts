import { eventMs } from "../../lib/ids.ts";
import { type JsonText, parseAround } from "../../lib/json-text.ts";
import type { EventStream } from "../keys.ts";

/** The stored part of a summary; id and time come from the sorted set. */
export interface StoredSummary {
  /** An object. */
  event: unknown;
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
  /** As it was written. */
  event: JsonText;
  id: string;
  indexed_at_ms: number;
}

/** Bounds of a range of event ids, both inclusive; an absent bound is open (docs/rest-api.md#source-events). */
export interface EventRange {
  startId?: string | undefined;
  endId?: string | undefined;
}

export const STREAMS: readonly EventStream[] = ["emits", "errors", "logs"];

/** Returns the stream in which a channel's events are kept (docs/design.md#guarantee-3). */
export function streamOf(channel: string): EventStream {
  if (channel === "$errors") return "errors";
  return channel === "$logs" ? "logs" : "emits";
}

/** Returns the summary whose stored JSON is `text`. */
export const summaryOf = (id: string, text: string): EventSummary => ({
  id,
  indexed_at_ms: eventMs(id),
  ...(parseAround(text, { member: "event" }) as Omit<EventSummary, "id" | "indexed_at_ms">),
});

/** Returns the summaries of a list of ids and texts in turn, as scripts return them. */
export function summariesOf(pairs: readonly string[]): EventSummary[] {
  return pairs.flatMap((id, i) => (i % 2 === 0 ? [summaryOf(id, pairs[i + 1] ?? "")] : []));
}

/** Parses `<ms>-<seq> <summary JSON>`, a message of the feed channel. */
export function parseFeedMessage(message: string): EventSummary {
  const space = message.indexOf(" ");
  return summaryOf(message.slice(0, space), message.slice(space + 1));
}
