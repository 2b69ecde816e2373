import type { Message } from "../../destinations/message.ts";
import { HOPS_HEADER } from "../../lib/hops.ts";

/** A channel name may be any text, but a header holds ASCII, so the rest is percent-encoded. */
const headerText = (text: string) =>
  text.replace(/[^\x20-\x7e]+/g, part => encodeURIComponent(Buffer.from(part).toString()));

/** Returns the headers of a delivery's requests that are the same for each attempt, and no secret. */
export function messageHeaders(
  { version }: { version: string },
  {
    id,
    eventId,
    emitterId,
    eventName,
    hops = 0,
  }: Pick<Message, "id" | "eventId" | "emitterId" | "eventName" | "hops">,
): Record<string, string> {
  return {
    "content-type": "application/json",
    "user-agent": `Headwater/${version}`,
    "webhook-id": id,
    "x-headwater-event-id": eventId,
    "x-headwater-emitter-id": emitterId,
    "x-headwater-event-name": headerText(eventName),
    [HOPS_HEADER]: String(hops + 1),
  };
}
