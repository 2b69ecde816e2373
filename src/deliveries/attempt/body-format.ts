import type { Message } from "../../destinations/message.ts";
import type { BodyFormat } from "../../lib/body-formats.ts";
import { eventMs } from "../../lib/ids.ts";
import { messageHeaders } from "./sign.ts";

/** What says of a message which event it is: the same in each attempt. */
type Identified = Pick<Message, "id" | "eventId" | "emitterId" | "eventName" | "hops">;

/** The attributes of an event as a CloudEvent 1.0 (docs/guides/cloudevents.md). */
export interface CloudEventAttributes {
  specversion: "1.0";
  id: string;
  source: string;
  type: string;
  time: string;
}

/** The `type` of what was emitted on the default channel, which has no name. */
const UNNAMED = "headwater.event";

/** Characters that an attribute must not have: control characters, halves of surrogate pairs, and what is not a character. */
const NOT_IN_ATTRIBUTES = /[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]/gu;
/** What the HTTP binding has percent-encoded in a header: all but printable ASCII, and blanks, quotation and percent signs. */
const NOT_IN_HEADERS = /[^\x21-\x7e]|["%]/gu;

/** A half of a surrogate pair becomes a replacement character. */
const percentEncoded = (text: string) => encodeURIComponent(Buffer.from(text).toString());

/**
 * Returns an event's attributes. All come from the event itself, so that they are the same in each attempt and for each webhook:
 * an event id is unique for its emitter, as a CloudEvent's `id` is for its `source`.
 */
export function cloudEventAttributes({ eventId, emitterId, eventName }: Identified): CloudEventAttributes {
  return {
    specversion: "1.0",
    id: eventId,
    source: `urn:headwater:${emitterId}`,
    type: eventName.replace(NOT_IN_ATTRIBUTES, percentEncoded) || UNNAMED,
    time: new Date(eventMs(eventId)).toISOString(),
  };
}

/** Returns a message's headers, without a signature or a secret, as a webhook of this format gets them. */
export function formattedHeaders(
  config: { version: string },
  format: BodyFormat | undefined,
  message: Identified,
): Record<string, string> {
  const headers = messageHeaders(config, message);
  if (format === "cloudevents") {
    return { ...headers, "content-type": "application/cloudevents+json; charset=utf-8" };
  }
  if (format !== "cloudevents-binary") return headers;
  const attributes = Object.entries(cloudEventAttributes(message)).map(([name, value]) => [
    `ce-${name}`,
    value.replace(NOT_IN_HEADERS, percentEncoded),
  ]);
  return { ...headers, ...Object.fromEntries(attributes) };
}

/** Returns a message's body as a webhook of this format gets it: the event's JSON, which a structured CloudEvent has as its `data`. */
export function formattedBody(
  format: BodyFormat | undefined,
  message: Identified & { body: string },
): string {
  if (format !== "cloudevents") return message.body;
  const envelope = JSON.stringify({
    ...cloudEventAttributes(message),
    datacontenttype: "application/json",
  });
  // The event is JSON already, of up to half a megabyte.
  return `${envelope.slice(0, -1)},"data":${message.body}}`;
}
