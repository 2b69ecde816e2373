import { isUtf8 } from "node:buffer";
import { brotliDecompressSync, constants, inflateSync, unzipSync } from "node:zlib";
import { sendToAction } from "../../destinations/action/send.ts";
import type {
  EndpointResponse,
  Message,
  SendToDestination,
  SendToWebhook,
} from "../../destinations/message.ts";
import { MAX_RESPONSE_BYTES, outcomeOf } from "../../destinations/outcome.ts";
import { sendToPull } from "../../destinations/pull/send.ts";
import { sendToRabbitMq } from "../../destinations/rabbitmq/send.ts";
import { sendToRedisStream } from "../../destinations/redis-stream/send.ts";
import { sendToS3 } from "../../destinations/s3/send.ts";
import type { EgressResponse } from "../../egress/agent.ts";
import { newId } from "../../lib/ids.ts";
import { unixSeconds } from "../../lib/time.ts";
import { type DestinationKind, isDestination, isMcpListener, type Webhook } from "../../models/webhook.ts";
import type { Calling, Stores } from "../../platform.ts";
import { traceHeaders } from "../../tracing/trace-context.ts";
import { timeoutMsOf } from "../../webhooks/delivery-settings.ts";
import { openSigningKeys } from "../../webhooks/signing-keys.ts";
import { formattedBody, formattedHeaders } from "./body-format.ts";
import { occurrenceRequest } from "./callback.ts";
import { signatureHeaders } from "./sign.ts";

/** How each kind of destination is handed a message. */
const sendTo: Record<DestinationKind, SendToDestination> = {
  redis_stream: sendToRedisStream,
  rabbitmq: sendToRabbitMq,
  s3: sendToS3,
  action: sendToAction,
  pull: sendToPull,
};

/**
 * Hands a message to its webhook or destination once, at `atMs`. One that fails is a result and not an exception. Throws
 * `unavailable` if `signal` aborts the attempt, because its effect is unknown then, or if this process can open no connection.
 */
export function send(
  platform: Calling,
  webhook: Webhook,
  message: Message,
  signal?: AbortSignal,
  atMs = platform.clock(),
): Promise<EndpointResponse> {
  if (!isDestination(webhook)) return sendToEndpoint(platform, webhook, message, signal, atMs);
  return sendTo[webhook.kind](platform, webhook, message, signal, atMs);
}

/** What is sent to a webhook: the event in its format, signed. */
function webhookRequest(
  platform: Stores,
  webhook: Webhook,
  message: Message,
  atMs: number,
): { headers: Record<string, string>; body: string } {
  const keys = openSigningKeys(platform.secrets, webhook.signing_keys, atMs);
  const custom = webhook.headers === null ? {} : JSON.parse(platform.secrets.open(webhook.headers));
  const body = formattedBody(webhook.format, message);
  const headers = {
    ...custom,
    ...formattedHeaders(platform.config, webhook.format, message),
    "x-headwater-attempt": String(message.attempt),
    ...traceHeaders(message.trace),
    ...signatureHeaders({ id: message.id, timestamp: unixSeconds(atMs), body }, keys),
  };
  return { headers, body };
}

/** Signs a message and POSTs it to a webhook or an agent's callback (docs/design.md#delivery-to-a-webhook); `atMs` is the `webhook-timestamp`. */
const sendToEndpoint: SendToWebhook = async (platform, webhook, message, signal, atMs) => {
  const { headers, body } = isMcpListener(webhook)
    ? occurrenceRequest(platform, webhook, message, atMs)
    : webhookRequest(platform, webhook, message, atMs);
  return await outcomeOf(signal, async () => {
    const response = await platform.egress.request(webhook.url, {
      method: "POST",
      headers,
      body,
      timeoutMs: timeoutMsOf(platform.config, webhook),
      maxResponseBytes: MAX_RESPONSE_BYTES,
      // The receiver knows it by its `webhook-id`.
      isRepeatable: true,
      ...(signal && { signal }),
    });
    const [retryAfter = null] = [response.headers["retry-after"]].flat();
    return { status: response.status, response: responseText(response), retryAfter };
  });
};

/**
 * Sends one test event to a webhook or destination now, over the same path as real deliveries, and returns what the endpoint
 * responded. It is not a delivery: not recorded, not retried, without effect on the webhook's health. A disabled webhook
 * can be tested too.
 */
export async function sendTest(
  platform: Calling,
  webhook: Webhook,
): Promise<{ status: number | null; latency_ms: number; error: string | null; response: string }> {
  const now = platform.clock();
  const { status, latencyMs, error, response } = await send(platform, webhook, {
    id: newId("dlv", now),
    eventId: `${now}-0`,
    emitterId: webhook._id,
    eventName: "$test",
    attempt: 1,
    body: JSON.stringify({ test: true, webhook_id: webhook._id, sent_at_ms: now }),
  });
  return { status, latency_ms: latencyMs, error, response };
}

const MOST_DECOMPRESSED = 64 * 1024;
/** The beginning of a compressed body is decompressed as far as it goes. */
const PARTIAL = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: MOST_DECOMPRESSED };
const PARTIAL_BROTLI = {
  finishFlush: constants.BROTLI_OPERATION_FLUSH,
  maxOutputLength: MOST_DECOMPRESSED,
};
const DECODERS: Record<string, (body: Buffer) => Buffer> = {
  gzip: body => unzipSync(body, PARTIAL),
  "x-gzip": body => unzipSync(body, PARTIAL),
  deflate: body => inflateSync(body, PARTIAL),
  br: body => brotliDecompressSync(body, PARTIAL_BROTLI),
};

/** At the end of a text that goes on. */
const CUT = "…";
/** A character of UTF-8 has up to three bytes before its last one. */
const PART_OF_CHARACTER = 3;

/**
 * Returns the beginning of a response as a person can read it: decompressed, and with `…` at its end if there was more. A body
 * that is not text is described in brackets, as is one that can't be decompressed.
 */
export function responseText({ headers, body, truncated }: EgressResponse): string {
  if (body.length === 0) return "";
  const encoding = (headers["content-encoding"] ?? "identity").trim().toLowerCase();
  const type = (headers["content-type"] ?? "").split(";")[0]?.trim() ?? "";
  const described = `[${[encoding === "identity" ? "" : encoding, type || "binary"].filter(Boolean).join(" ")}, ${
    truncated ? "more than " : ""
  }${body.length} bytes]`;
  let text = body;
  if (encoding !== "identity") {
    const decode = DECODERS[encoding];
    if (!decode) return described;
    try {
      text = decode(body);
    } catch {
      return described;
    }
  }
  const whole = wholeCharacters(text, truncated);
  if (whole === undefined) return described;
  const isCut = truncated || whole.length > MAX_RESPONSE_BYTES;
  return isCut ? whole.slice(0, MAX_RESPONSE_BYTES - CUT.length) + CUT : whole;
}

/** Returns the text without a character that was cut; undefined if it is not UTF-8. */
function wholeCharacters(bytes: Buffer, isCut: boolean): string | undefined {
  for (let cut = 0; cut <= (isCut ? PART_OF_CHARACTER : 0); cut++) {
    const whole = bytes.subarray(0, bytes.length - cut);
    if (isUtf8(whole) && !whole.includes(0)) return whole.toString("utf8");
  }
  return undefined;
}
