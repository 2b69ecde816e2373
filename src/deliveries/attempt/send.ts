import { EgressError } from "../../egress/egress-error.ts";
import { AppError } from "../../lib/errors.ts";
import type { Webhook } from "../../models/webhook.ts";
import type { Platform } from "../../platform.ts";
import { openSigningKeys } from "../../webhooks/signing-keys.ts";
import { signatureHeaders } from "./sign.ts";

/** Of an answer's body no more is read: it is kept with the attempt, and an endpoint may send without end. */
const RESPONSE_BYTES = 1024;

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
}

/** What the endpoint said, or why it said nothing. */
export interface Answer {
  /** Null where no answer came. */
  status: number | null;
  latencyMs: number;
  /** Null for a 2xx. */
  error: string | null;
  /** First KB of the body. */
  response: string;
  retryAfter: string | null;
  timedOut: boolean;
}

/** A channel's name is the emitter's own and may be any text; a header holds ASCII, so the rest is percent-encoded. */
const headerText = (text: string) =>
  text.replace(/[^\x20-\x7e]+/g, part => encodeURIComponent(Buffer.from(part).toString()));

function requestHeaders(
  platform: Pick<Platform, "secrets" | "config" | "clock">,
  webhook: Webhook,
  message: Message,
): Record<string, string> {
  const now = platform.clock();
  const keys = openSigningKeys(platform.secrets, webhook.signing_keys, now);
  const custom = webhook.headers === null ? {} : JSON.parse(platform.secrets.open(webhook.headers));
  return {
    ...custom,
    "content-type": "application/json",
    "user-agent": `Headwater/${platform.config.version}`,
    "x-headwater-event-id": message.eventId,
    "x-headwater-emitter-id": message.emitterId,
    "x-headwater-event-name": headerText(message.eventName),
    "x-headwater-attempt": String(message.attempt),
    ...signatureHeaders({ id: message.id, timestamp: Math.floor(now / 1000), body: message.body }, keys),
  };
}

/**
 * Signs a message and POSTs it to a webhook, once (design.md, "Delivery to a webhook"). An endpoint that fails is an
 * answer and no exception; `signal` ends the attempt without one, as `unavailable`, since nobody knows what it did.
 */
export async function deliver(
  platform: Pick<Platform, "egress" | "secrets" | "config" | "clock">,
  webhook: Webhook,
  message: Message,
  signal?: AbortSignal,
): Promise<Answer> {
  const headers = requestHeaders(platform, webhook, message);
  const startedAt = performance.now();
  const latencyMs = () => Math.round(performance.now() - startedAt);
  try {
    const {
      status,
      headers: answered,
      body,
    } = await platform.egress.request(webhook.url, {
      method: "POST",
      headers,
      body: message.body,
      timeoutMs: platform.config.deliveries.timeoutMs,
      maxResponseBytes: RESPONSE_BYTES,
      ...(signal && { signal }),
    });
    const retryAfter = answered["retry-after"];
    return {
      status,
      latencyMs: latencyMs(),
      error: status >= 200 && status < 300 ? null : `answered ${status}`,
      response: body.toString("utf8").slice(0, RESPONSE_BYTES),
      retryAfter: (Array.isArray(retryAfter) ? retryAfter[0] : retryAfter) ?? null,
      timedOut: false,
    };
  } catch (error) {
    if (signal?.aborted) {
      throw new AppError("unavailable", "stopped before the endpoint answered", { cause: error });
    }
    if (!(error instanceof EgressError)) throw error;
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
