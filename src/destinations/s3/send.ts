import { createHash, createHmac } from "node:crypto";
import type { SignatureV4 } from "@smithy/signature-v4";
import { eventMs } from "../../lib/ids.ts";
import { loadLater } from "../../lib/lazy.ts";
import { timeoutMsOf } from "../../webhooks/delivery-settings.ts";
import { openSettings } from "../kind.ts";
import type { Message, SendToDestination } from "../message.ts";
import { MAX_RESPONSE_BYTES, outcomeOf } from "../outcome.ts";
import type { S3Settings } from "./kind.ts";

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
      timeoutMs: timeoutMsOf(platform.config, destination),
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

export const DEFAULT_KEY = "{date}/{emitter_id}/{event_id}.json";

const PLACEHOLDER = /\{(\w*)\}/g;

type Named = Pick<Message, "id" | "eventId" | "emitterId" | "eventName">;

const VALUES: Record<string, (message: Named) => string> = {
  id: ({ id }) => id,
  event_id: ({ eventId }) => eventId,
  emitter_id: ({ emitterId }) => emitterId,
  event_name: ({ eventName }) => encodeURIComponent(eventName),
  date: message => momentOf(message).slice(0, 10),
  hour: message => momentOf(message).slice(11, 13),
};

/** When the event was emitted: the same for each attempt, so that a repeat overwrites the same object. */
const momentOf = ({ eventId }: Named) => new Date(eventMs(eventId)).toISOString();

/** Returns what is wrong with a pattern of object keys; undefined if it gives each event a key of its own. */
export function keyProblem(pattern: string): string | undefined {
  const names = [...pattern.matchAll(PLACEHOLDER)].map(([, name = ""]) => name);
  const unknown = names.find(name => !Object.hasOwn(VALUES, name));
  if (unknown !== undefined) {
    return `{${unknown}} is none of ${Object.keys(VALUES)
      .map(name => `{${name}}`)
      .join(", ")}`;
  }
  if (/[{}]/.test(pattern.replace(PLACEHOLDER, ""))) return "must have a name between { and }";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what a key must not have
  if (/[\x00-\x1f\x7f]/.test(pattern)) return "must have no control characters";
  if (pattern.split("/").some(part => part === "" || part === "." || part === "..")) {
    return "must have no empty part, . or .. between slashes, and none at its ends";
  }
  if (names.includes("id") || (names.includes("emitter_id") && names.includes("event_id"))) return undefined;
  return "must have {id}, or {emitter_id} and {event_id}: otherwise events overwrite each other";
}

/** Returns the key of an event's object. */
export const objectKey = (pattern: string, message: Named): string =>
  pattern.replace(PLACEHOLDER, (_, name: string) => VALUES[name]?.(message) ?? "");

const signer = loadLater<{ SignatureV4: typeof SignatureV4 }>("@smithy/signature-v4", import.meta.url);

/** SHA-256, or HMAC-SHA-256 if there is a secret, as the signer wants it. */
class Sha256 {
  #hash;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash("sha256") : createHmac("sha256", secret as string);
  }
  update(data: string | Uint8Array): void {
    this.#hash.update(data);
  }
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
}

interface ToSign {
  method: string;
  url: URL;
  headers: Record<string, string>;
  body: string;
}

/** Returns the headers of a request with its signature (AWS Signature Version 4) at this moment. */
async function signRequest(
  { region, access_key_id, secret_access_key }: S3Settings,
  { method, url, headers, body }: ToSign,
  atMs: number,
): Promise<Record<string, string>> {
  const { SignatureV4 } = signer();
  const sigv4 = new SignatureV4({
    service: "s3",
    region,
    credentials: { accessKeyId: access_key_id, secretAccessKey: secret_access_key },
    sha256: Sha256 as never,
    // S3 alone takes the path as it is sent.
    uriEscapePath: false,
  });
  const signed = await sigv4.sign(
    {
      method,
      protocol: url.protocol,
      hostname: url.hostname,
      ...(url.port !== "" && { port: Number(url.port) }),
      path: url.pathname,
      query: {},
      headers: { ...headers, host: url.host },
      body,
    },
    { signingDate: new Date(atMs) },
  );
  const { host: _, ...rest } = signed.headers;
  return rest;
}
