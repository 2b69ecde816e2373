import type { CallRequest } from "../protocol.ts";
import { type Component, objectOf, propsOf } from "./component.ts";

const MASK = "***";
/** Shorter values are words such as `true`, or of a region. */
const MIN_CHARS = 8;
/** Fields of a connection that are not secret, and without which an error is hard to read. */
const PLAIN_FIELD =
  /(?:url|uri|host|domain|region|email|user|username|name|account|tenant|version|type|_?id)$/i;

/** The end of a field's name. Bounds, here and below, keep the expressions from being slow for a long text. */
const NAME = String.raw`(?:token|secret|passw(?:or)?d|api[-_]?key|authorization|cookie|credential|private[-_]?key)[\w-]{0,40}`;
const PATTERNS: [RegExp, string][] = [
  // `"access_token": "…"`, `api_key=…`, `x-auth-token: …`
  [new RegExp(String.raw`(${NAME}["']?\s{0,9}[:=]\s{0,9}["']?)[^\s"'&,;}]{12,}`, "gi"), `$1${MASK}`],
  [/([?&](?:sig|signature|key|auth|code|jwt|pass|pwd|token|access|x-amz-[\w-]*)=)[^&\s"'#)]+/gi, `$1${MASK}`],
  [/\b([Bb]asic|[Bb]earer)\s+(?=\S*\d|\S*[a-z][A-Z])[\w.~+/=-]{8,}/g, `$1 ${MASK}`],
  [/(\b[a-z][\w+.-]{0,20}:\/\/)[^\s/@"']+@/gi, `$1${MASK}@`],
];

/** Returns the values that a call has as secrets: those of secret props, and of its accounts. */
export function secretsOf(
  component: Component,
  { props, added = [] }: Pick<CallRequest, "props" | "added">,
): string[] {
  const isSecret = new Set<string>();
  try {
    for (const [name, { secret }] of propsOf(component)) if (secret) isSecret.add(name);
  } catch {
    // Its props can't be read, which is what the call failed of.
  }
  for (const { name, secret } of added) if (secret) isSecret.add(name);
  const found = Object.entries(props).flatMap(([name, value]) => [
    ...(isSecret.has(name) ? textsIn(value, 0) : []),
    ...Object.entries(objectOf(objectOf(value).$auth)).flatMap(([field, one]) =>
      PLAIN_FIELD.test(field) ? [] : textsIn(one, 0),
    ),
  ]);
  // The longest first: one may contain another.
  return [...new Set(found)].filter(text => text.length >= MIN_CHARS).sort((a, b) => b.length - a.length);
}

function textsIn(value: unknown, depth: number): string[] {
  if (typeof value === "string") {
    // It throws for half of a pair.
    const inUrls = encodeURIComponent(value.replace(/\p{Surrogate}/gu, "\uFFFD"));
    return [value, inUrls, JSON.stringify(value).slice(1, -1)];
  }
  return depth < 3 && typeof value === "object" && value !== null
    ? Object.values(value).flatMap(one => textsIn(one, depth + 1))
    : [];
}

/**
 * Returns a text without these secrets, nor the beginning of one where it was cut, and without what looks like one: credentials
 * in addresses, headers and fields.
 */
export function maskSecrets(text: string, secrets: readonly string[]): string {
  const own = secrets.reduce((rest, secret) => withoutCut(rest.replaceAll(secret, MASK), secret), text);
  return PATTERNS.reduce((rest, [pattern, mask]) => rest.replace(pattern, mask), own);
}

function withoutCut(text: string, secret: string): string {
  const at = text.lastIndexOf(secret.slice(0, MIN_CHARS));
  return at !== -1 && secret.startsWith(text.slice(at)) ? text.slice(0, at) + MASK : text;
}
