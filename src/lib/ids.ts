import { createHash, hash, randomBytes, timingSafeEqual } from "node:crypto";
import { customAlphabet } from "nanoid";

/** In ASCII order, so that ids sort by the time they start with. */
export const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const TIME_CHARS = 7;
const RANDOM_CHARS = 9;

const randomPart = customAlphabet(ALPHABET, RANDOM_CHARS);
const TOKEN_CHARS = 32;
const token = customAlphabet(ALPHABET, TOKEN_CHARS);

/** Prefixes of the resources (docs/rest-api.md#resources) and of the records that the platform adds. */
export type IdPrefix =
  | "sc"
  | "dc"
  | "p"
  | "wh"
  | "ds"
  | "ac"
  | "ms"
  | "sub"
  | "u"
  | "o"
  | "d"
  | "asub"
  | "key"
  | "rec"
  | "run"
  | "dlv"
  | "del"
  | "ch"
  | "emit"
  | "ses"
  | "inv"
  | "rpl"
  | "al"
  | "iss"
  | "aud"
  | "apn"
  | "dyp"
  | "cv";

function base62(value: number, length: number): string {
  // A bound in the far future (from the year 2081 on) is the last id there is; it must not wrap around to 1970.
  let rest = Math.min(value, 62 ** length - 1);
  let text = "";
  for (let i = 0; i < length; i++) {
    text = ALPHABET.charAt(rest % 62) + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}

/**
 * Returns a new id: prefix and 16 characters that start with the time, so that ids sort by age and a page cursor stays
 * valid after its row was deleted (docs/decisions/0003-ids-in-time-order.md).
 */
export function newId(prefix: IdPrefix, nowMs = Date.now()): string {
  return `${prefix}_${base62(nowMs, TIME_CHARS)}${randomPart()}`;
}

/** Returns the same id for the same parts, so that a repeated step finds its earlier work (docs/design.md#guarantee-2). */
export function derivedId(prefix: IdPrefix, atMs: number, ...parts: string[]): string {
  const digest = hash("sha256", parts.join("\n"), "buffer");
  const tail = [...digest.subarray(0, RANDOM_CHARS)].map(byte => ALPHABET.charAt(byte % 62)).join("");
  return `${prefix}_${base62(atMs, TIME_CHARS)}${tail}`;
}

/**
 * Returns the id of what is nothing but its parts, whenever it is made: 95 bits of their hash, so that other parts
 * with the same one are not found. It says nothing of a time.
 */
export function hashedId(prefix: IdPrefix, ...parts: string[]): string {
  const digest = hash("sha256", JSON.stringify(parts), "buffer");
  const bits = BigInt(`0x${digest.subarray(0, 16).toString("hex")}`);
  let text = "";
  for (let rest = bits; text.length < TIME_CHARS + RANDOM_CHARS; rest /= 62n) {
    text = ALPHABET.charAt(Number(rest % 62n)) + text;
  }
  return `${prefix}_${text}`;
}

/** Returns the id of the run that emitted under this emit id, which begins with it; undefined for a published event. */
export const runIdOf = (emitId: string): string | undefined => /^(run_[0-9A-Za-z]{16})-/.exec(emitId)?.[1];

/** Returns the smallest id of a prefix that can have been made at or after `atMs`, for ranges by time. */
export function firstIdAt(prefix: IdPrefix, atMs: number): string {
  return `${prefix}_${base62(atMs, TIME_CHARS)}`;
}

/** Returns the Unix milliseconds that an id starts with, if it is one of ours or a UUID of version 7; else null. */
export function timeOfId(id: string): number | null {
  const ours = /^[a-z]+_([0-9A-Za-z]{7})[0-9A-Za-z]{9}/.exec(id)?.[1];
  if (ours) return [...ours].reduce((ms, char) => ms * 62 + ALPHABET.indexOf(char), 0);
  const [, high, low] = /^([0-9a-f]{8})-([0-9a-f]{4})-7/i.exec(id) ?? [];
  return high && low ? Number.parseInt(high + low, 16) : null;
}

/** Returns 32 random characters (190 bits), for API keys and endpoint names. */
export function newToken(): string {
  return token();
}

/** Returns true if the text has the form of a `newToken`. */
export function isToken(text: string): boolean {
  return text.length === TOKEN_CHARS && /^[0-9A-Za-z]+$/.test(text);
}

/** Returns 256 random bits with a prefix that says what they are, which secret scanners find. */
export const newSecret = (prefix: string): string => `${prefix}_${randomBytes(32).toString("base64url")}`;

/** Returns true if the text has the form of a `newSecret` with this prefix. */
export const isSecretOf = (prefix: string, text: string): boolean =>
  text.startsWith(`${prefix}_`) && /^[\w-]{43}$/.test(text.slice(prefix.length + 1));

/** Returns true if the text has the form of an id with this prefix. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && /^[A-Za-z0-9]{16}$/.test(text.slice(prefix.length + 1));
}

/** Event ids in one millisecond; beyond that the next millisecond's are used. Keeps scores below 2^53 until 2248. */
export const SLOTS_PER_MS = 1024;

/** Returns the event id, `<epoch_milliseconds>-<sequence>`, of a score. */
export function eventIdOf(score: number): string {
  return `${Math.floor(score / SLOTS_PER_MS)}-${score % SLOTS_PER_MS}`;
}

/** Returns the Unix milliseconds of an event id. */
export function eventMs(eventId: string): number {
  return Number.parseInt(eventId, 10);
}

/**
 * Returns the score by which event ids are ordered; null if the text is not an event id. A sequence beyond the slots sorts
 * after all events of its millisecond, so that any well-formed id may bound a range.
 */
export function eventScore(eventId: string): number | null {
  const match = /^([0-9]{1,13})-([0-9]{1,10})$/.exec(eventId);
  if (!match) return null;
  return Number(match[1]) * SLOTS_PER_MS + Math.min(Number(match[2]), SLOTS_PER_MS - 1);
}

/** Compares two texts in a time that depends on neither of them, nor on their lengths. */
export function isSameSecret(given: string, expected: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
