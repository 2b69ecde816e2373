import type { PulledFrom } from "../models/pulled-event.ts";
import type { Destination, Webhook } from "../models/webhook.ts";
import type { Calling } from "../platform.ts";
import type { TraceContext } from "../tracing/trace-context.ts";

/** One attempt of a delivery, as its webhook or destination receives it. */
export interface Message {
  /** The `webhook-id`: the same over all attempts. */
  id: string;
  eventId: string;
  emitterId: string;
  eventName: string;
  /** Counts from 1. */
  attempt: number;
  /** JSON. */
  body: string;
  /** Sent as `traceparent` and `tracestate`. */
  trace?: TraceContext | undefined;
  /** How many listeners led to its event; absent for none. */
  hops?: number | undefined;
  /** For a destination that keeps where the event is, and not the event; absent for a test. */
  stored?: StoredAt;
}

/** Where the body of a message is stored. */
export interface StoredAt extends PulledFrom {
  /** The number of the retry schedule of its delivery: one that is restarted by hand has another. */
  schedule: number;
}

/** What the endpoint returned, or why nothing came back. */
export interface EndpointResponse {
  /** Null if no response arrived; 200 if a destination other than an HTTP endpoint confirmed the event. */
  status: number | null;
  latencyMs: number;
  /** Null for a 2xx. */
  error: string | null;
  /** The first KB of the body. */
  response: string;
  retryAfter: string | null;
  timedOut: boolean;
  /** JSON of what an action exported. */
  output?: string;
}

/**
 * Hands a message to a webhook or a destination once. One that fails is a result and not an exception. Throws `unavailable`
 * if `signal` aborts the attempt, because its effect is unknown then, or if this process can open no connection, which is
 * not the destination's failure. `atMs` is when the attempt began.
 */
type SendTo<Receiver> = (
  platform: Calling,
  receiver: Receiver,
  message: Message,
  signal: AbortSignal | undefined,
  atMs: number,
) => Promise<EndpointResponse>;

export type SendToWebhook = SendTo<Webhook>;
export type SendToDestination = SendTo<Destination>;
