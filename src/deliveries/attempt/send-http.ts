import type { Message, SendToWebhook } from "../../destinations/message.ts";
import { MAX_RESPONSE_BYTES, outcomeOf } from "../../destinations/outcome.ts";
import { unixSeconds } from "../../lib/unix-seconds.ts";
import type { Webhook } from "../../models/webhook.ts";
import type { Platform } from "../../platform.ts";
import { traceHeaders } from "../../tracing/trace-context.ts";
import { openSigningKeys } from "../../webhooks/signing-keys.ts";
import { messageHeaders } from "./message-headers.ts";
import { responseText } from "./response-text.ts";
import { signatureHeaders } from "./sign.ts";

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

/** Signs a message and POSTs it to a webhook (docs/design.md#delivery-to-a-webhook); `atMs` is the `webhook-timestamp`. */
export const sendToEndpoint: SendToWebhook = async (platform, webhook, message, signal, atMs) => {
  const headers = requestHeaders(platform, webhook, message, atMs);
  return await outcomeOf(signal, async () => {
    const response = await platform.egress.request(webhook.url, {
      method: "POST",
      headers,
      body: message.body,
      timeoutMs: platform.config.deliveries.timeoutMs,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      // The receiver knows it by its `webhook-id`.
      isRepeatable: true,
      ...(signal && { signal }),
    });
    const [retryAfter = null] = [response.headers["retry-after"]].flat();
    return { status: response.status, response: responseText(response), retryAfter };
  });
};
