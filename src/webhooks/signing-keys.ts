import { randomBytes } from "node:crypto";
import { invalidField } from "../lib/errors.ts";
import type { SigningKey } from "../models/webhook.ts";
import type { Secrets } from "../store/secrets.ts";

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

/** Returns the key that a request gives, or a new one. Throws `invalid`, without the text that was given. */
export function givenOrNewKey(given: string | undefined): string {
  if (given === undefined) return newSigningKey();
  if (!isSigningKey(given)) throw invalidField("body", "signing_key", SIGNING_KEY_RULE);
  return given;
}

/** Returns the keys with `sealed` as the current one. Older keys expire after OVERLAP_MS; expired ones are removed. */
export function rotated(keys: SigningKey[], sealed: string, nowMs: number): SigningKey[] {
  const old = keys
    .map(key => ({ sealed: key.sealed, expires_at_ms: key.expires_at_ms ?? nowMs + OVERLAP_MS }))
    .filter(key => key.expires_at_ms > nowMs)
    .slice(0, OLD_KEYS_KEPT);
  return [{ sealed, expires_at_ms: null }, ...old];
}

/** Returns the keys that sign at `nowMs`, decrypted, newest first. */
export function openSigningKeys(secrets: Secrets, keys: SigningKey[], nowMs: number): string[] {
  return keys
    .filter(key => key.expires_at_ms === null || key.expires_at_ms > nowMs)
    .map(key => secrets.open(key.sealed));
}
