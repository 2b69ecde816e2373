import { MIMEType, type TextDecoder } from "node:util";
import { Response } from "undici";
import { charsetOf, decode, decoderOf, decodeWith, withoutMark } from "../http/body.ts";
import { AppError, type FieldError } from "../lib/errors.ts";
import { scanJson } from "../lib/scan-json.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { VerifiedSender } from "./verification.ts";

/** The event that `run` receives for an HTTP request (docs/component-api.md#events-given-to-run). */
export interface HttpEvent {
  method: string;
  path: string;
  query: Record<string, string | string[]>;
  headers: Record<string, string>;
  /** Decoded by the charset of its type. */
  bodyRaw: string;
  /** The body's exact bytes; only if they are not those of `bodyRaw` as UTF-8. */
  bodyBase64?: string;
  body: unknown;
  url: string;
  client_ip: string;
  /** Who sent it, if the source verifies its requests: null if they could not be verified and are let through all the same. */
  verified?: VerifiedSender | null;
}

export interface RawRequest {
  method: string;
  /** The part of the path after the endpoint, starting with `/`. */
  path: string;
  search: URLSearchParams;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
  url: string;
  clientIp: string;
}

/** What concerns one connection and not the request (RFC 9110, 7.6.1), beside what `Connection` names. */
const OF_CONNECTION = [
  "connection",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

/**
 * Returns the event of a request: headers in lower case, the text of the body, and the body parsed according to its content
 * type. Throws `invalid` for JSON that is nested too deeply, and `too-large` for a form with too many parts
 * (docs/limits.md): nothing may be accepted here that could not be stored and passed on later.
 */
export async function httpEvent(request: RawRequest): Promise<HttpEvent> {
  const type = String(request.headers["content-type"] ?? "");
  const { text: bodyRaw, isExact } = decode(request.body, type);
  return {
    method: request.method,
    path: request.path,
    query: collect([...request.search]),
    headers: headersOf(request.headers),
    bodyRaw,
    ...(!isExact && { bodyBase64: request.body.toString("base64") }),
    body: await parseBody(type, request.body, withoutMark(bodyRaw)),
    url: request.url,
    client_ip: request.clientIp,
  };
}

function headersOf(received: RawRequest["headers"]): Record<string, string> {
  const named = String(received.connection ?? "")
    .toLowerCase()
    .split(",");
  const ofConnection = new Set([...OF_CONNECTION, ...named.map(name => name.trim())]);
  const headers: [string, string][] = [];
  for (const [receivedName, value] of Object.entries(received)) {
    const name = receivedName.toLowerCase();
    if (value === undefined || ofConnection.has(name)) continue;
    headers.push([name, Array.isArray(value) ? value.join(", ") : value]);
  }
  return Object.fromEntries(headers);
}

/**
 * Returns a body parsed according to its type, or its text if it has another type or is not what its type says. `text` is the decoded
 * body without a byte order mark. Throws as `httpEvent` does.
 */
async function parseBody(type: string, body: Buffer, text: string): Promise<unknown> {
  // The media type is case-insensitive; its parameters, such as a form's boundary, may not be.
  const name = type.toLowerCase();
  if (body.length === 0) return name.includes("json") ? null : "";
  // A body that does not match its content type stays a string, for the component to decide about.
  try {
    if (/\bjson\b|\+json/.test(name)) return parseJson(text);
    if (name.startsWith("application/x-www-form-urlencoded"))
      return parseForm(text, decoderOf(charsetOf(type)));
    if (name.startsWith("multipart/form-data")) return await parseMultipart(type, body);
  } catch (error) {
    if (error instanceof AppError) throw error;
    return text;
  }
  return text;
}

const MAX_DEPTH = LIMITS.jsonDepth.value;
/** A value of the same text with many times the memory takes each process on its way many times as long. */
const MAX_PARSED_BYTES = LIMITS.eventParsedBytes.value;
const MAX_FIELDS = LIMITS.formFields.value;
const MAX_PARTS = LIMITS.formParts.value;
const MAX_HEADER_BYTES = LIMITS.formPartHeaderBytes.value;

function rejection(code: "invalid" | "too-large", message: string): AppError {
  const field: FieldError = { in: "body", path: "", message };
  return new AppError(code, `the body ${message}`, { fields: [field] });
}

function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  const { depth, parsedBytes } = scanJson(text);
  if (depth > MAX_DEPTH) throw rejection("invalid", `is nested deeper than ${MAX_DEPTH} levels`);
  if (parsedBytes > MAX_PARSED_BYTES) {
    throw rejection("invalid", "has too many arrays, objects and values for its size");
  }
  return value;
}

function parseForm(text: string, decoder: TextDecoder | undefined): unknown {
  let fields = 1;
  for (let at = text.indexOf("&"); at >= 0; at = text.indexOf("&", at + 1)) fields += 1;
  if (fields > MAX_FIELDS) throw rejection("too-large", `has more than ${MAX_FIELDS} fields`);
  return collect(decoder ? pairsOf(text, decoder) : [...new URLSearchParams(text)]);
}

/** Returns the pairs of a form whose percent-encoded bytes are of another charset than UTF-8. */
function pairsOf(text: string, decoder: TextDecoder): [string, string][] {
  const read = (part: string) =>
    part
      .replaceAll("+", " ")
      .replaceAll(/(?:%[\da-f]{2})+/gi, bytes =>
        decodeWith(decoder, Buffer.from(bytes.replaceAll("%", ""), "hex")),
      );
  return text
    .split("&")
    .filter(part => part !== "")
    .map(part => {
      const end = part.indexOf("=");
      return end < 0 ? [read(part), ""] : [read(part.slice(0, end)), read(part.slice(end + 1))];
    });
}

async function parseMultipart(type: string, body: Buffer): Promise<unknown> {
  const boundary = new MIMEType(type).params.get("boundary") ?? "";
  checkParts(body, `--${boundary}`);
  // A type of our own, so that the parser can't read another boundary than the one whose parts were counted.
  const clean = new MIMEType("multipart/form-data");
  clean.params.set("boundary", boundary);
  return collect(await readMultipart(String(clean), body));
}

/** The parser takes all parts in one go, a fraction of a millisecond each and more for long headers. */
function checkParts(body: Buffer, boundary: string): void {
  let parts = 0;
  for (let at = body.indexOf(boundary); at >= 0; at = body.indexOf(boundary, at)) {
    at += boundary.length;
    // The last boundary begins no part.
    if (body.toString("latin1", at, at + 2) === "--") continue;
    parts += 1;
    if (parts > MAX_PARTS) throw rejection("too-large", `has more than ${MAX_PARTS} parts`);
    const head = body.subarray(at, at + MAX_HEADER_BYTES);
    if (head.length === MAX_HEADER_BYTES && head.indexOf("\r\n\r\n") < 0) {
      throw rejection("too-large", `has a part with more than ${MAX_HEADER_BYTES} bytes of headers`);
    }
  }
}

/** Returns the fields of a form; a file is an object of its name, type and text, with its exact bytes if the text has not. */
async function readMultipart(type: string, body: Buffer): Promise<[string, unknown][]> {
  // Of the package, because that of Node 20 reads what browsers send and little else.
  const form = await new Response(new Uint8Array(body), { headers: { "content-type": type } }).formData();
  return Promise.all(
    [...form].map(async ([name, value]): Promise<[string, unknown]> => {
      if (typeof value === "string") return [name, value];
      const bytes = Buffer.from(await value.arrayBuffer());
      const { text: content, isExact } = decode(bytes, value.type);
      const contentBase64 = isExact ? {} : { contentBase64: bytes.toString("base64") };
      return [name, { filename: value.name, type: value.type, content, ...contentBase64 }];
    }),
  );
}

/** Converts pairs to an object. A name that occurs once has its value, a name that occurs more often an array. */
function collect<T>(pairs: [string, T][]): Record<string, T | T[]> {
  const lists = new Map<string, T[]>();
  for (const [name, value] of pairs) {
    const list = lists.get(name);
    if (list) list.push(value);
    else lists.set(name, [value]);
  }
  return Object.fromEntries(
    [...lists].map(([name, values]) => [name, values.length === 1 ? (values[0] as T) : values]),
  );
}
