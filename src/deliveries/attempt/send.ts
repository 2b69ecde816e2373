import { EgressError } from "../../egress/egress-error.ts";
import { AppError } from "../../lib/errors.ts";
import { unixSeconds } from "../../lib/unix-seconds.ts";
import type { Webhook } from "../../models/webhook.ts";
import type { Platform } from "../../platform.ts";
import { type TraceContext, traceHeaders } from "../../tracing/trace-context.ts";
import { openSigningKeys } from "../../webhooks/signing-keys.ts";
import { messageHeaders } from "./message-headers.ts";
import { signatureHeaders } from "./sign.ts";

/** No more of a response body is read: it is stored with the attempt, and an endpoint may send without end. */
const MAX_RESPONSE_BYTES = 1024;

export interface Message {
  /** The `webhook-id`. */
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
}

/** What the endpoint returned, or why nothing came back. */
export interface EndpointResponse {
  /** Null if no response arrived. */
  status: number | null;
  latencyMs: number;
  /** Null for a 2xx. */
  error: string | null;
  /** The first KB of the body. */
  response: string;
  retryAfter: string | null;
  timedOut: boolean;
}

function requestHeaders(
  platform: Pick<Platform, "secrets" | "config">,
  webhook: Webhook,
  message: Message,
  atMs: number,
): Record<string, string> {
  const keys = openSigningKeys(platform.secrets, webhook.signing_keys, atMs);
  const custom = webhook.headers === null ? {} : JSON.parse(platform.secrets.open(webhook.headers));
  return {
    ...custom,
    ...messageHeaders(platform.config, message),
    "x-headwater-attempt": String(message.attempt),
    ...traceHeaders(message.trace),
    ...signatureHeaders({ id: message.id, timestamp: unixSeconds(atMs), body: message.body }, keys),
  };
}

/**
 * Signs a message and POSTs it to a webhook once (docs/design.md#delivery-to-a-webhook). A failing endpoint is a result and
 * not an exception. Throws `unavailable` if `signal` aborts the attempt, because its effect is unknown then, or if this
 * process can open no connection, which is not the endpoint's failure. `atMs` is the `webhook-timestamp`.
 */
export async function send(
  platform: Pick<Platform, "egress" | "secrets" | "config" | "clock">,
  webhook: Webhook,
  message: Message,
  signal?: AbortSignal,
  atMs = platform.clock(),
): Promise<EndpointResponse> {
  const headers = requestHeaders(platform, webhook, message, atMs);
  const startedAt = performance.now();
  const latencyMs = () => Math.round(performance.now() - startedAt);
  try {
    const response = await platform.egress.request(webhook.url, {
      method: "POST",
      headers,
      body: message.body,
      timeoutMs: platform.config.deliveries.timeoutMs,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      ...(signal && { signal }),
    });
    const { status } = response;
    const [retryAfter = null] = [response.headers["retry-after"]].flat();
    return {
      status,
      latencyMs: latencyMs(),
      error: status >= 200 && status < 300 ? null : `HTTP status ${status}`,
      response: response.body.toString("utf8").slice(0, MAX_RESPONSE_BYTES),
      retryAfter,
      timedOut: false,
    };
  } catch (error) {
    if (signal?.aborted) {
      throw new AppError("unavailable", "stopped before the endpoint responded", { cause: error });
    }
    if (!(error instanceof EgressError)) throw error;
    if (error.code === "local") {
      throw new AppError("unavailable", "this process can't open connections", { cause: error });
    }
    return {
      status: null,
      latencyMs: latencyMs(),
      error: `${error.code}: ${error.message}`,
      response: "",
      retryAfter: null,
      timedOut: error.code === "timeout",
    };
  }
}
