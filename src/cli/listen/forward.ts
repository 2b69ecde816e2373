import type { Headwater, Schemas } from "../../../clients/typescript/src/index.ts";
import { formattedBody, formattedHeaders } from "../../deliveries/attempt/body-format.ts";
import { signatureHeaders } from "../../deliveries/attempt/sign.ts";
import type { Egress } from "../../egress/agent.ts";
import { EgressError } from "../../egress/egress-error.ts";
import type { BodyFormat } from "../../lib/body-formats.ts";
import { unixSeconds } from "../../lib/time.ts";
import { version } from "../../lib/versions.ts";
import { LIMITS } from "../../limits/catalogue.ts";

/** What became of one event. */
export interface Forwarded {
  /** Null if no response arrived. */
  status: number | null;
  ms: number;
  /** Null for a 2xx. */
  error: string | null;
}

interface Target {
  egress: Egress;
  url: string;
  signingKey: string;
  format?: BodyFormat | undefined;
  signal: AbortSignal;
}

/** The `webhook-id`: the same whenever the event is sent, so that a receiver knows it again. */
export const messageId = ({ emitterId, id }: WholeEvent): string => `listen_${emitterId}_${id}`;

/** Only the status counts. */
const MAX_RESPONSE_BYTES = 1024;

/** Sends an event with the headers and the signatures of a delivery's first attempt. A failure is a result. */
export async function forward(target: Target, event: WholeEvent): Promise<Forwarded> {
  const message = {
    id: messageId(event),
    eventId: event.id,
    emitterId: event.emitterId,
    eventName: event.channel,
    body: event.body,
  };
  const body = formattedBody(target.format, message);
  const signed = { id: message.id, timestamp: unixSeconds(Date.now()), body };
  const headers = {
    ...formattedHeaders({ version }, target.format, message),
    "x-headwater-attempt": "1",
    ...signatureHeaders(signed, [target.signingKey]),
  };
  const startedAt = performance.now();
  const ms = () => Math.round(performance.now() - startedAt);
  try {
    const { status } = await target.egress.request(target.url, {
      method: "POST",
      headers,
      body,
      timeoutMs: LIMITS.attemptMs.value,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      signal: target.signal,
    });
    return { status, ms: ms(), error: status >= 200 && status < 300 ? null : `HTTP status ${status}` };
  } catch (error) {
    if (target.signal.aborted) return { status: null, ms: ms(), error: "stopped" };
    if (!(error instanceof EgressError)) throw error;
    return { status: null, ms: ms(), error: error.message };
  }
}

/** An event as a webhook receives it. */
export interface WholeEvent {
  id: string;
  emitterId: string;
  /** Empty for the default channel. */
  channel: string;
  /** JSON. */
  body: string;
}

/**
 * Returns an event with the body that a delivery of it has; null if it is too large for its summary and no longer stored.
 * Bodies are what `JSON.stringify` makes on the server too, so that the bytes are the same.
 */
export async function wholeEvent(
  client: Headwater,
  { id, event, metadata }: Schemas["EventSummary"],
): Promise<WholeEvent | null> {
  const { emitter_id: emitterId, name: channel } = metadata;
  const whole = metadata.truncated
    ? await expand(client, id, emitterId)
    : "raw_event" in event
      ? event.raw_event
      : event;
  return whole === undefined ? null : { id, emitterId, channel, body: JSON.stringify(whole) };
}

/** Undefined if it is gone. */
async function expand(client: Headwater, id: string, emitterId: string): Promise<unknown> {
  const query = { emitter_id: emitterId, expand: "event" } as const;
  const trace = await client.request("get", "/events/{id}", { params: { id }, query });
  return trace.event;
}
