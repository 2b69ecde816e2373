import { invalidField } from "../lib/errors.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { Webhook } from "../models/webhook.ts";
import type { Secrets } from "../store/secrets.ts";

export const MAX_HEADERS = LIMITS.webhookHeaders.value;
export const MAX_HEADER_BYTES = LIMITS.webhookHeaderBytes.value;

/** A `token` as defined by RFC 9110. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Printable ASCII, spaces and tabs: a line break would let the caller add a header that was not checked. */
const VALUE = /^[\t\x20-\x7e]*$/;

/** Headers that are set by the platform or by HTTP itself. */
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
 * Checks custom headers and returns them with their names in lower case. Throws `invalid` for a malformed name or
 * value, a reserved name, a name that occurs twice, or more than MAX_HEADERS headers or MAX_HEADER_BYTES bytes in
 * total. The error names the header but never shows its value.
 */
export function checkCustomHeaders(headers: Record<string, string>): Record<string, string> {
  const checked = new Map<string, string>();
  const invalid = (name: string, message: string) => invalidField("body", `headers.${name}`, message);
  for (const [originalName, value] of Object.entries(headers)) {
    const name = originalName.toLowerCase();
    if (!NAME.test(name)) throw invalid(originalName, "is not a valid header name");
    if (isReserved(name)) throw invalid(originalName, "is reserved for the platform");
    if (!VALUE.test(value)) throw invalid(originalName, "must contain only printable ASCII characters");
    if (checked.has(name)) throw invalid(originalName, "is given twice");
    checked.set(name, value.trim());
  }
  if (checked.size > MAX_HEADERS) {
    throw invalidField("body", "headers", `must have at most ${MAX_HEADERS} entries`);
  }
  const bytes = [...checked].reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (bytes > MAX_HEADER_BYTES) {
    throw invalidField("body", "headers", `must have at most ${MAX_HEADER_BYTES} bytes of names and values`);
  }
  return Object.fromEntries(checked);
}

/** Checks custom headers and returns the fields of a webhook that store them, encrypted. Throws `invalid`. */
export function encryptHeaders(
  secrets: Secrets,
  headers: Record<string, string>,
): Pick<Webhook, "headers" | "header_names"> {
  const checked = checkCustomHeaders(headers);
  const header_names = Object.keys(checked);
  return {
    headers: header_names.length === 0 ? null : secrets.seal(JSON.stringify(checked)),
    header_names,
  };
}
