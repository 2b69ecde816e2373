import type { Headwater, Schemas } from "../../../clients/typescript/src/index.ts";

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
