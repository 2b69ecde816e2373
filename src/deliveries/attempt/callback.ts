import type { Message } from "../../destinations/message.ts";
import { HOPS_HEADER } from "../../lib/hops.ts";
import { eventMs } from "../../lib/ids.ts";
import { unixSeconds } from "../../lib/time.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import type { McpListener } from "../../models/webhook.ts";
import type { Stores } from "../../platform.ts";
import { openSigningKeys } from "../../webhooks/signing-keys.ts";
import { standardHeaders } from "./sign.ts";

/** Names the subscription in each request to an agent's callback. */
const SUBSCRIPTION_HEADER = "x-mcp-subscription-id";

/** What is sent to an agent's callback. */
export interface CallbackRequest {
  headers: Record<string, string>;
  body: string;
}

/**
 * Returns a request to an agent's callback as the Events extension of the Model Context Protocol has it: the headers of Standard
 * Webhooks with these signing keys, and the subscription's id. Nothing of ours is in it but the count that ends a loop.
 */
export function callbackRequest(
  { version }: { version: string },
  { _id }: Pick<McpListener, "_id">,
  { id, body, hops = 0 }: { id: string; body: string; hops?: number | undefined },
  { keys, atMs }: { keys: string[]; atMs: number },
): CallbackRequest {
  return {
    headers: {
      "content-type": "application/json",
      "user-agent": `Headwater/${version}`,
      [SUBSCRIPTION_HEADER]: _id,
      [HOPS_HEADER]: String(hops + 1),
      ...standardHeaders({ id, timestamp: unixSeconds(atMs), body }, keys),
    },
    body,
  };
}

/**
 * Returns the request that hands an event to an agent. Its id and its body, an EventOccurrence, are the same in each attempt. An
 * event id is unique for its emitter only, so both together name the event.
 */
export function occurrenceRequest(
  { config, secrets }: Stores,
  listener: McpListener,
  message: Message,
  atMs: number,
): CallbackRequest {
  const id = `${message.emitterId}:${message.eventId}`;
  const keys = openSigningKeys(secrets, listener.signing_keys, atMs);
  return callbackRequest(
    config,
    listener,
    { id, body: occurrenceOf(listener, message), hops: message.hops },
    { keys, atMs },
  );
}

/** JSON of an event as agents get it; without its value, which `get_event` has, if that would be too much for one. */
function occurrenceOf({ mcp }: McpListener, { emitterId, eventId, eventName, body }: Message): string {
  const about = { emitter_id: emitterId, event_id: eventId, channel: eventName };
  const isTooLarge = Buffer.byteLength(body) > LIMITS.mcpEventBytes.value;
  const data = isTooLarge ? { ...about, event: null, truncated: true } : about;
  const json = JSON.stringify({
    eventId: `${emitterId}:${eventId}`,
    name: mcp.event_type,
    timestamp: new Date(eventMs(eventId)).toISOString(),
    cursor: null,
    data,
  });
  // The event is JSON already, of up to half a megabyte.
  return isTooLarge ? json : `${json.slice(0, -2)},"event":${body}}}`;
}
