import type { Message, SendToDestination } from "../message.ts";
import { MAX_RESPONSE_BYTES, outcomeOf } from "../outcome.ts";
import { openSettings } from "../settings.ts";
import type { S3Settings } from "./kind.ts";
import { objectKey } from "./object-key.ts";
import { signRequest } from "./sign.ts";

/** Puts a message into a bucket as an object (docs/destinations.md#s3), which a repeat overwrites with the same. */
export const sendToS3: SendToDestination = async (platform, destination, message, signal, atMs) => {
  const settings = openSettings<S3Settings>(platform.secrets, destination);
  const { body } = message;
  const url = objectUrl(settings, message);
  const headers = await signRequest(
    settings,
    { method: "PUT", url, headers: metadataOf(message), body },
    atMs,
  );
  return await outcomeOf(signal, async () => {
    const response = await platform.egress.request(url, {
      method: "PUT",
      headers,
      body,
      timeoutMs: platform.config.deliveries.timeoutMs,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      ...(signal && { signal }),
    });
    return { status: response.status, response: response.body.toString("utf8") };
  });
};

/** The store computes the signature of the path as RFC 3986 encodes it, which is stricter than JavaScript. */
const encoded = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

function objectUrl({ url, key }: S3Settings, message: Message): URL {
  const object = new URL(url);
  const bucket = object.pathname.replace(/\/$/, "");
  object.pathname = [bucket, ...objectKey(key, message).split("/").map(encoded)].join("/");
  return object;
}

const metadataOf = ({ id, eventId, emitterId, eventName, attempt }: Message) => ({
  "content-type": "application/json",
  "x-amz-meta-id": id,
  "x-amz-meta-event-id": eventId,
  "x-amz-meta-emitter-id": emitterId,
  "x-amz-meta-event-name": encodeURIComponent(eventName),
  "x-amz-meta-attempt": String(attempt),
});
