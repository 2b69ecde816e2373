import { AppError, invalidField } from "../../lib/errors.ts";
import { type JsonText, parseAround } from "../../lib/json-text.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import type { NewEvent, PublishBody } from "./schema.ts";

/** An event to be published, as it was written. */
export type WrittenEvent = Omit<NewEvent, "event"> & { event: JsonText };

/**
 * Returns the events of a body, which its schema has checked; `text` is the body as it was sent. Throws `invalid`, which
 * names the field, for a body that is neither one event nor a batch, and for an event that is too large.
 */
export function readEvents(body: PublishBody, text: string): WrittenEvent[] {
  const { events, ...one } = body;
  const isBatch = events !== undefined;
  for (const field of isBatch ? Object.keys(one) : []) {
    throw invalidField("body", field, "must not be given beside events");
  }
  if (!isBatch && !("event" in one)) throw invalidField("body", "event", "is required, or events");
  const written = parseAround(text, { member: "event", list: "events" });
  const all = isBatch ? (written as { events: WrittenEvent[] }).events : [written as WrittenEvent];
  let parsedBytes = 0;
  for (const [i, { event }] of all.entries()) {
    checkSize(event, isBatch ? `events.${i}.event` : "event");
    parsedBytes += event.shape.parsedBytes;
  }
  if (parsedBytes > LIMITS.publishParsedBytes.value) {
    throw new AppError("invalid", "the body has too many arrays, objects and values for its size");
  }
  return all;
}

function checkSize({ text, shape }: JsonText, path: string): void {
  const most = LIMITS.emitBytes.value;
  if (text.length > most || (text.length > most / 4 && Buffer.byteLength(text) > most)) {
    throw invalidField("body", path, `must have at most ${most} bytes`);
  }
  if (shape.parsedBytes > LIMITS.eventParsedBytes.value) {
    throw invalidField("body", path, "has too many arrays, objects and values for its size");
  }
}
