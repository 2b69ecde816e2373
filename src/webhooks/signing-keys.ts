import { randomBytes } from "node:crypto";
import type { SigningKey } from "../models/webhook.ts";
import type { Secrets } from "../store/secrets.ts";

/** How long a replaced key signs beside its successor, so that receivers can be changed over at leisure (design.md). */
export const OVERLAP_MS = 24 * 3_600_000;
/** Every key is one more signature in each request's headers. */
export const OLD_KEYS_KEPT = 5;

/** `whsec_` and base64 of 32 random bytes, as Standard Webhooks wants symmetric keys. */
export function newSigningKey(): string {
  return `whsec_${randomBytes(32).toString("base64")}`;
}

/** The keys after `sealed` has become the current one; those before it expire, and what has expired is dropped. */
export function rotated(keys: SigningKey[], sealed: string, nowMs: number): SigningKey[] {
  const old = keys
    .map(key => ({ sealed: key.sealed, expires_at_ms: key.expires_at_ms ?? nowMs + OVERLAP_MS }))
    .filter(key => key.expires_at_ms > nowMs)
    .slice(0, OLD_KEYS_KEPT);
  return [{ sealed, expires_at_ms: null }, ...old];
}

/** The keys that sign now, newest first, in the clear. */
export function openSigningKeys(secrets: Secrets, keys: SigningKey[], nowMs: number): string[] {
  return keys
    .filter(key => key.expires_at_ms === null || key.expires_at_ms > nowMs)
    .map(key => secrets.open(key.sealed));
}
