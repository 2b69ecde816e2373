import { randomBytes } from "node:crypto";
import { invalidField } from "../lib/errors.ts";
import type { SigningKey } from "../models/webhook.ts";
import type { Secrets } from "../store/secrets.ts";
import { newKeyPair } from "./ed25519.ts";

/**
 * How long a replaced key still signs, so that receivers have time to switch (docs/design.md#delivery-to-a-webhook).
 */
export const OVERLAP_MS = 24 * 3_600_000;
/** Limits the size of the headers, because every key adds a signature to each request. */
export const OLD_KEYS_KEPT = 5;

/** Returns a random key: `whsec_` and the base64 of 32 bytes, the format of Standard Webhooks for symmetric keys. */
export function newSigningKey(): string {
  return `whsec_${randomBytes(32).toString("base64")}`;
}

const OWN_KEY = /^whsec_([A-Za-z0-9+/]+={0,2})$/;
const LEAST_KEY_BYTES = 24;
const MOST_KEY_BYTES = 64;

/** Whether a text is a signing key that an owner may bring along: what the libraries of Standard Webhooks read alike. */
export function isSigningKey(text: string): boolean {
  const [, base64 = ""] = OWN_KEY.exec(text) ?? [];
  const bytes = Buffer.from(base64, "base64");
  // Decoders differ in what they make of a text that is not quite base64.
  if (bytes.toString("base64") !== base64) return false;
  return bytes.length >= LEAST_KEY_BYTES && bytes.length <= MOST_KEY_BYTES;
}

/** What a signing key of an owner must be. */
export const SIGNING_KEY_RULE = `must be whsec_ and the base64 of ${LEAST_KEY_BYTES} to ${MOST_KEY_BYTES} bytes`;

/** How a webhook signs: with a secret that its receiver has too, or with a key pair of which only Headwater has the secret part. */
export type Signing = "hmac" | "ed25519";

/** What a request says of the key that is to sign. */
export interface WantedKey {
  signing?: Signing | undefined;
  signing_key?: string | undefined;
}

/** A key that is to sign. */
export interface NewKey {
  /** What signs, to be stored encrypted. */
  secret: string;
  /** Of a key pair. */
  public?: string;
}

/** What its owner verifies with, which is shown once: the key itself, or the public part of a pair. */
export const shownKey = (key: NewKey): string => key.public ?? key.secret;

/** Returns the key that a request gives, or a new one. Throws `invalid`, without the text that was given. */
export function givenOrNewKey({ signing = "hmac", signing_key: given }: WantedKey): NewKey {
  const wrong = (message: string) => invalidField("body", "signing_key", message);
  if (signing === "ed25519") {
    if (given === undefined) return newKeyPair();
    throw wrong("can't be given with ed25519: the secret part of its key pair is the server's alone");
  }
  if (given === undefined) return { secret: newSigningKey() };
  if (!isSigningKey(given)) throw wrong(SIGNING_KEY_RULE);
  return { secret: given };
}

/** Returns a key, whose secret is sealed, as it is stored while it is the current one. */
export const storedKey = (key: NewKey, sealed: string): SigningKey => ({
  sealed,
  ...(key.public !== undefined && { public_key: key.public }),
  expires_at_ms: null,
});

/** Returns the keys with `current` before them. Older keys expire after OVERLAP_MS; expired ones are removed. */
export function rotated(keys: SigningKey[], current: SigningKey, nowMs: number): SigningKey[] {
  const old = keys
    .map(key => ({ ...key, expires_at_ms: key.expires_at_ms ?? nowMs + OVERLAP_MS }))
    .filter(key => key.expires_at_ms > nowMs)
    .slice(0, OLD_KEYS_KEPT);
  return [current, ...old];
}

/** Returns the keys that sign at `nowMs`, decrypted, newest first. */
export function openSigningKeys(secrets: Secrets, keys: SigningKey[], nowMs: number): string[] {
  return keys
    .filter(key => key.expires_at_ms === null || key.expires_at_ms > nowMs)
    .map(key => secrets.open(key.sealed));
}
