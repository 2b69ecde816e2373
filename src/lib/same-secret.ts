import { createHash, timingSafeEqual } from "node:crypto";

/** Compares two texts in a time that depends on neither of them, nor on their lengths. */
export function isSameSecret(given: string, expected: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
