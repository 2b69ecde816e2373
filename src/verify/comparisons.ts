import { createHmac, timingSafeEqual } from "node:crypto";
import { isSameSecret } from "../lib/ids.ts";
import type { Key } from "./keys.ts";
import type { RejectReason } from "./reasons.ts";

/** Which key signed a request, or why none did. */
export type Proof = { key: Key } | { reason: RejectReason };

export type Piece = string | Buffer;

const MISMATCH = { reason: "mismatch" } as const;

/** Returns the first of these keys that fits. */
export const findKey = (keys: readonly Key[], fits: (key: Key) => boolean): Proof => {
  const key = keys.find(fits);
  return key ? { key } : MISMATCH;
};

/** True if what a request has is the secret itself. */
export const isSecret = (given: Buffer, key: Key): boolean =>
  "secret" in key && isSameSecret(given.toString("latin1"), key.secret.toString("latin1"));

/** Compares in a time that depends on the lengths alone. */
export const isSameBytes = (given: Buffer, expected: Buffer): boolean =>
  given.length === expected.length && timingSafeEqual(given, expected);

/** Returns the HMAC of these pieces one after the other, none of which is copied. */
export function hmacOf(key: Buffer, pieces: readonly Piece[], digest: string): Buffer {
  const hmac = createHmac(digest, key);
  for (const piece of pieces) hmac.update(piece);
  return hmac.digest();
}
