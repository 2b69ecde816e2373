import { JsonText, parseAround } from "../lib/json-text.ts";
import type { StoredEvent } from "../models/event.ts";
import type { Platform } from "../platform.ts";
import type { EventSummary } from "../store/event-summary.ts";
import { expandSummary } from "./read.ts";

/** Where an event is kept whole, and the event. */
type Payload = { place: "stored" | "in-summary"; event: JsonText } | { place: "gone" };

interface Kept {
  emitter: { id: string };
  stored: StoredEvent | null;
  summary: EventSummary | null;
}

/** Returns an event as its listeners receive it, from where it is kept whole; `gone` if it is nowhere. */
export async function readPayload(
  platform: Pick<Platform, "mongo" | "clock">,
  { emitter, stored, summary }: Kept,
): Promise<Payload> {
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
