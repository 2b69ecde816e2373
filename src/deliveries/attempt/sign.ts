import { createHmac } from "node:crypto";
import type { Message } from "../../destinations/message.ts";
import { HOPS_HEADER } from "../../lib/hops.ts";
import type { Webhook } from "../../models/webhook.ts";
import { isEd25519, signEd25519 } from "../../webhooks/ed25519.ts";

export interface SignedMessage {
  /** The `webhook-id`: the same over all attempts. */
  id: string;
  /** Unix seconds. */
  timestamp: number;
  body: string;
}

/** Returns the names of the headers that hold signatures in requests to a webhook. */
export const signatureHeaderNames = ({ signing_keys }: Pick<Webhook, "signing_keys">): string[] =>
  signing_keys.some(key => key.public_key === undefined)
    ? ["webhook-signature", "x-pd-signature"]
    : ["webhook-signature"];

/** The headers of Standard Webhooks: the id, the time, and one signature for each key, newest first. */
export function standardHeaders(
  { id, timestamp, body }: SignedMessage,
  signingKeys: string[],
): Record<string, string> {
  const signatures = signingKeys.map(key => {
    if (isEd25519(key)) return `v1a,${signEd25519(key, `${id}.${timestamp}.${body}`)}`;
    const secret = Buffer.from(key.slice("whsec_".length), "base64");
    return `v1,${createHmac("sha256", secret).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
  });
  return {
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signatures.join(" "),
  };
}

/**
 * The signature headers of a request, one signature for each key, newest first. `webhook-signature` follows Standard
 * Webhooks: its HMAC key is the base64-decoded part after `whsec_`, and `whsk_` signs by ed25519. `x-pd-signature` is keyed with
 * the text of the signing key as its owner was given it, `whsec_` and all, since its receivers use the key as it is; without such
 * a key there is none.
 */
export function signatureHeaders(message: SignedMessage, signingKeys: string[]): Record<string, string> {
  const { timestamp, body } = message;
  const plain = signingKeys
    .filter(key => !isEd25519(key))
    .map(key => `v1=${createHmac("sha256", key).update(`${timestamp}.${body}`).digest("hex")}`);
  return {
    ...standardHeaders(message, signingKeys),
    ...(plain.length > 0 && { "x-pd-signature": [`t=${timestamp}`, ...plain].join(",") }),
  };
}

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
