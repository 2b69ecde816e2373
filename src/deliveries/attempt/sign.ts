import { createHmac } from "node:crypto";

export interface SignedMessage {
  /** The `webhook-id`: the same over all attempts. */
  id: string;
  /** Unix seconds. */
  timestamp: number;
  body: string;
}

/** Headers that hold signatures. */
export const SIGNATURE_HEADERS = ["webhook-signature", "x-pd-signature"];

/**
 * The signature headers of a request, one signature for each key, newest first. `webhook-signature` follows Standard
 * Webhooks: its HMAC key is the base64-decoded part after `whsec_`. `x-pd-signature` is keyed with the text of the
 * signing key as its owner was given it, `whsec_` and all, since its receivers use the key as it is.
 */
export function signatureHeaders(message: SignedMessage, signingKeys: string[]): Record<string, string> {
  const { id, timestamp, body } = message;
  const standard = signingKeys.map(key => {
    const secret = Buffer.from(key.slice("whsec_".length), "base64");
    return `v1,${createHmac("sha256", secret).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
  });
  const plain = signingKeys.map(
    key => `v1=${createHmac("sha256", key).update(`${timestamp}.${body}`).digest("hex")}`,
  );
  return {
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": standard.join(" "),
    "x-pd-signature": [`t=${timestamp}`, ...plain].join(","),
  };
}
