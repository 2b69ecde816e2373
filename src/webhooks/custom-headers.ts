import { invalidField } from "../lib/errors.ts";

export const MAX_HEADERS = 20;
export const MAX_HEADER_BYTES = 4096;

/** RFC 9110 `token`. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Visible ASCII, blanks and tabs: a line break would be a header of the caller's making. */
const VALUE = /^[\t\x20-\x7e]*$/;

/** Set by the platform or by HTTP itself. */
const RESERVED = new Set([
  "host",
  "content-length",
  "content-type",
  "content-encoding",
  "user-agent",
  "connection",
  "keep-alive",
  "transfer-encoding",
  "te",
  "trailer",
  "upgrade",
  "expect",
  "x-pd-signature",
]);
const RESERVED_PREFIXES = ["webhook-", "x-headwater-", "proxy-"];

const isReserved = (name: string) =>
  RESERVED.has(name) || RESERVED_PREFIXES.some(prefix => name.startsWith(prefix));

/**
 * Custom headers with their names in lower case. Throws `invalid` naming the header (never its value): a malformed
 * name or value, one the platform sets itself, the same name twice, more than MAX_HEADERS or MAX_HEADER_BYTES in all.
 */
export function checkCustomHeaders(given: Record<string, string>): Record<string, string> {
  const checked = new Map<string, string>();
  const refuse = (name: string, message: string) => invalidField("body", `headers.${name}`, message);
  for (const [givenName, value] of Object.entries(given)) {
    const name = givenName.toLowerCase();
    if (!NAME.test(name)) throw refuse(givenName, "is no name of a header");
    if (isReserved(name)) throw refuse(givenName, "is set by the platform");
    if (!VALUE.test(value)) throw refuse(givenName, "may hold printable ASCII only");
    if (checked.has(name)) throw refuse(givenName, "is given twice");
    checked.set(name, value.trim());
  }
  if (checked.size > MAX_HEADERS) throw invalidField("body", "headers", `must be ${MAX_HEADERS} at most`);
  const bytes = [...checked].reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (bytes > MAX_HEADER_BYTES) {
    throw invalidField("body", "headers", `must be ${MAX_HEADER_BYTES} bytes at most, names and values`);
  }
  return Object.fromEntries(checked);
}
