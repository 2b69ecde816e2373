import { AppError, invalidField } from "../../lib/errors.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import { jsonShape } from "../../sandbox/child/json-shape.ts";
import type { NewEvent, PublishBody } from "./schema.ts";

export interface ReadEvents {
  events: NewEvent[];
  /** The length of each event's JSON, of a body that is large enough for it to matter. */
  sizes?: number[];
}

/** No JSON text takes more memory than this many times its length once it is parsed. */
const MOST_EXPANSION = 32;

/**
 * Returns the events of a body, which its schema has checked; `text` is the body as it was sent. Throws `invalid`, which
 * names the field, for a body that is neither one event nor a batch, and for an event that is too large.
 */
export function readEvents(body: PublishBody, text: string): ReadEvents {
  const { events = [], ...one } = body;
  const isBatch = body.events !== undefined;
  for (const field of isBatch ? Object.keys(one) : []) {
    throw invalidField("body", field, "must not be given beside events");
  }
  if (!isBatch && !("event" in one)) throw invalidField("body", "event", "is required, or events");
  const read = isBatch ? events : [one as NewEvent];
  const pathOf = (index: number) => (isBatch ? `events.${index}.event` : "event");
  if (text.length * MOST_EXPANSION <= LIMITS.eventParsedBytes.value) return { events: read };
  const { parsedBytes } = jsonShape(text);
  if (parsedBytes > LIMITS.publishParsedBytes.value) {
    throw new AppError("invalid", "the body has too many arrays, objects and values for its size");
  }
  const mustCheck = parsedBytes > LIMITS.eventParsedBytes.value || text.length > LIMITS.emitBytes.value / 4;
  return { events: read, sizes: read.map(({ event }, i) => sizeOf(event, pathOf(i), mustCheck)) };
}

/** Returns the length of an event's JSON. Throws `invalid` if it is too large. */
function sizeOf(event: unknown, path: string, mustCheck: boolean): number {
  const text = JSON.stringify(event);
  if (!mustCheck) return text.length;
  if (Buffer.byteLength(text) > LIMITS.emitBytes.value) {
    throw invalidField("body", path, `must have at most ${LIMITS.emitBytes.value} bytes`);
  }
  const isDense = text.length * MOST_EXPANSION > LIMITS.eventParsedBytes.value;
  if (isDense && jsonShape(text).parsedBytes > LIMITS.eventParsedBytes.value) {
    throw invalidField("body", path, "has too many arrays, objects and values for its size");
  }
  return text.length;
}
