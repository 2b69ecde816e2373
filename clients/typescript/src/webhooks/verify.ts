import { type HeadersLike, readHeaders } from "./read-headers.ts";
import { bodyParsed, WebhookError } from "./webhook-error.ts";

/** A request that was verified. */
export interface ReceivedDelivery<Payload = unknown> {
  /** The `webhook-id`: the same over all attempts of a delivery, by which a receiver knows what it has handled. */
  id: string;
  /** When this attempt was signed: Unix seconds. */
  timestamp: number;
  payload: Payload;
  /** The headers below are not signed: use them to find things, not to decide. */
  eventId: string;
  emitterId: string;
  /** The channel; empty for the default channel. */
  eventName: string;
  /** Counts from 1. */
  attempt: number;
}

/** How strict to be. */
export interface VerifyOptions {
  /** How far the time of the signature may be from now. Default: 300. */
  toleranceSeconds?: number;
  /**
   * Which signature counts. Every delivery has both, but for those that are signed by ed25519; `x-pd-signature` is for receivers of other platforms' webhooks. It does
   * not cover the `webhook-id`, so a recorded request can be sent again as another delivery within the tolerance.
   */
  signature?: "webhook-signature" | "x-pd-signature";
  /** Returns the present time in Unix milliseconds. */
  now?: () => number;
}

const TOLERANCE_SECONDS = 300;
/** More signatures than a webhook has keys are not looked at. */
const MAX_SIGNATURES = 20;

/**
 * Verifies that a request is a delivery, signed with one of the secrets in the last five minutes, and returns it. The body
 * must be the bytes as they came: a text, a `Uint8Array` (`Buffer`) or an `ArrayBuffer`. Throws WebhookError.
 */
export async function verify<Payload = unknown>(
  rawBody: string | ArrayBuffer | ArrayBufferView,
  headers: HeadersLike,
  secrets: string | readonly string[],
  options: VerifyOptions = {},
): Promise<ReceivedDelivery<Payload>> {
  const header = readHeaders(headers);
  const body = bytesOf(rawBody);
  const keys = readSecrets(secrets);
  const isPlain = options.signature === "x-pd-signature";
  const signed = isPlain ? readPlain(header) : readStandard(header);
  checkTime(signed.timestamp, options);
  const message = concat(encode(signed.prefix), body);
  const isGenuine = await some(
    keys.flatMap(key =>
      signed.signatures
        .filter(({ kind }) => kind === key.kind)
        .map(({ bytes }) => isSignedBy(key.kind, isPlain ? key.text : key.bytes, bytes, message)),
    ),
  );
  if (!isGenuine) {
    const name = isPlain ? "x-pd-signature" : "webhook-signature";
    throw new WebhookError(
      "signature-mismatch",
      `${name}: no signature is that of this body with ${keys.length === 1 ? "the secret" : "one of the secrets"}`,
    );
  }
  return {
    id: signed.id,
    timestamp: signed.timestamp,
    payload: parse(body) as Payload,
    eventId: header("x-headwater-event-id"),
    emitterId: header("x-headwater-emitter-id"),
    eventName: decode(header("x-headwater-event-name")),
    attempt: Number(header("x-headwater-attempt")) || 1,
  };
}

/** What the headers say was signed, and how. */
interface Signed {
  id: string;
  timestamp: number;
  /** What is signed before the body. */
  prefix: string;
  signatures: Signature[];
}

/** `v1` of Standard Webhooks, and `v1a`. */
type Kind = "hmac" | "ed25519";

interface Signature {
  kind: Kind;
  bytes: Uint8Array<ArrayBuffer>;
}

type ReadHeader = (name: string) => string;

function required(header: ReadHeader, name: string): string {
  const value = header(name);
  if (value === "") throw new WebhookError("header-missing", `${name}: the request has no such header`);
  return value;
}

const KINDS = new Map<string, Kind>([
  ["v1", "hmac"],
  ["v1a", "ed25519"],
]);

/** Standard Webhooks: `v1,<base64>` or `v1a,<base64>`, separated by spaces; other versions are not ours. */
function readStandard(header: ReadHeader): Signed {
  const id = required(header, "webhook-id");
  const timestamp = required(header, "webhook-timestamp");
  const signatures = required(header, "webhook-signature")
    .split(" ")
    .map(one => {
      const [, version = "", text = ""] = /^(v\w+),(.*)$/.exec(one) ?? [];
      return signatureOf(KINDS.get(version), base64(text));
    });
  return {
    id,
    timestamp: readTimestamp("webhook-timestamp", timestamp),
    prefix: `${id}.${timestamp}.`,
    signatures: known("webhook-signature", signatures),
  };
}

/** `t=<seconds>,v1=<hex>,v1=<hex>` */
function readPlain(header: ReadHeader): Signed {
  const pairs = required(header, "x-pd-signature")
    .split(",")
    .map(one => one.trim().split("=", 2));
  const timestamp = pairs.find(([name]) => name === "t")?.[1] ?? "";
  const signatures = pairs
    .filter(([name]) => name === "v1")
    .map(([, value = ""]) => signatureOf("hmac", hex(value)));
  return {
    id: header("webhook-id"),
    timestamp: readTimestamp("x-pd-signature", timestamp),
    prefix: `${timestamp}.`,
    signatures: known("x-pd-signature", signatures),
  };
}

/** Null for a version that is not ours, and for what can't be read. */
const signatureOf = (kind: Kind | undefined, bytes: Uint8Array<ArrayBuffer> | null): Signature | null =>
  kind === undefined || bytes === null ? null : { kind, bytes };

function known(name: string, signatures: (Signature | null)[]): Signature[] {
  const found = signatures.filter(one => one !== null).slice(0, MAX_SIGNATURES);
  if (found.length === 0)
    throw new WebhookError("header-invalid", `${name}: has no signature of a version that is known`);
  return found;
}

function readTimestamp(name: string, text: string): number {
  if (!/^\d{1,12}$/.test(text)) {
    throw new WebhookError("header-invalid", `${name}: must have the time in Unix seconds`);
  }
  return Number(text);
}

function checkTime(
  timestamp: number,
  { toleranceSeconds = TOLERANCE_SECONDS, now = Date.now }: VerifyOptions,
): void {
  if (!(toleranceSeconds >= 0)) throw new TypeError("toleranceSeconds must be a number from 0");
  const age = Math.floor(now() / 1000) - timestamp;
  if (age > toleranceSeconds) {
    throw new WebhookError(
      "too-old",
      `signed ${age} s ago, ${toleranceSeconds} s are allowed: is this clock right?`,
    );
  }
  if (-age > toleranceSeconds) {
    throw new WebhookError(
      "too-new",
      `signed ${-age} s from now, ${toleranceSeconds} s are allowed: is this clock right?`,
    );
  }
}

/** A signing key: Standard Webhooks signs with the bytes that it encodes, `x-pd-signature` with its text. */
interface Key {
  kind: Kind;
  bytes: Uint8Array<ArrayBuffer>;
  text: Uint8Array<ArrayBuffer>;
}

const PREFIXES = new Map<string, Kind>([
  ["whsec_", "hmac"],
  ["whpk_", "ed25519"],
]);
const PUBLIC_KEY_BYTES = 32;

function readSecrets(secrets: string | readonly string[]): Key[] {
  const list = typeof secrets === "string" ? [secrets] : secrets;
  if (!Array.isArray(list) || list.length === 0) {
    throw new WebhookError("secret-invalid", "secrets: at least one signing key is needed (whsec_…, whpk_…)");
  }
  return list.map((secret: unknown, at) => {
    const text = typeof secret === "string" ? secret.trim() : "";
    const key = readSecret(text);
    if (key) return key;
    const name = typeof secrets === "string" ? "secrets" : `secrets.${at}`;
    const form = text.startsWith("whpk_") ? "whpk_ and base64 of 32 bytes" : "whsec_ and base64";
    throw new WebhookError("secret-invalid", `${name}: must be the signing key of a webhook, ${form}`);
  });
}

/** Returns the key of a `whsec_…` or `whpk_…`; null for any other text. */
function readSecret(text: string): Key | null {
  const prefixEnd = text.indexOf("_") + 1;
  const kind = PREFIXES.get(text.slice(0, prefixEnd));
  const bytes = base64(text.slice(prefixEnd));
  if (!kind || !bytes || bytes.length === 0) return null;
  if (kind === "ed25519" && bytes.length !== PUBLIC_KEY_BYTES) return null;
  return { kind, bytes, text: encode(text) };
}

const ALGORITHMS = { hmac: { name: "HMAC", hash: "SHA-256" }, ed25519: { name: "Ed25519" } };

/** `crypto.subtle` compares in constant time. */
async function isSignedBy(
  kind: Kind,
  key: Uint8Array<ArrayBuffer>,
  signature: Uint8Array<ArrayBuffer>,
  message: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const algorithm = ALGORITHMS[kind];
  const imported = await crypto.subtle.importKey("raw", key, algorithm, false, ["verify"]);
  return crypto.subtle.verify(algorithm.name, imported, signature, message);
}

async function some(checks: Promise<boolean>[]): Promise<boolean> {
  return (await Promise.all(checks)).includes(true);
}

function bytesOf(rawBody: unknown): Uint8Array<ArrayBuffer> {
  if (typeof rawBody === "string") return encode(rawBody);
  if (ArrayBuffer.isView(rawBody)) {
    // A copy: the view may be of shared memory.
    return new Uint8Array(new Uint8Array(rawBody.buffer, rawBody.byteOffset, rawBody.byteLength));
  }
  if (Object.prototype.toString.call(rawBody) === "[object ArrayBuffer]") {
    return new Uint8Array(rawBody as ArrayBuffer);
  }
  if (rawBody === undefined || rawBody === null)
    throw bodyParsed("there is no body, or it was read before it came here");
  throw bodyParsed("the body was parsed before it came here");
}

const encode = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(new TextEncoder().encode(text));

function concat(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}

/** Null for a text that is not base64. */
function base64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), char => char.charCodeAt(0));
  } catch {
    return null;
  }
}

function hex(text: string): Uint8Array<ArrayBuffer> | null {
  if (!/^([0-9a-f]{2})+$/i.test(text)) return null;
  return Uint8Array.from(text.match(/../g) ?? [], pair => Number.parseInt(pair, 16));
}

/** A channel's name in a header is percent-encoded where it is not ASCII. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw new WebhookError("payload-invalid", "the body is signed, and is not JSON");
  }
}
