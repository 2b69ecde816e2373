/** What an error says about the HTTP response that it is about. */
export interface VendorResponse {
  status?: number;
  /** The beginning of its body. */
  body?: string;
}

/** Bodies that had to be read, by their response. */
export type ReadBodies = ReadonlyMap<object, string>;

const MAX_BODY_CHARS = 2048;
const READ_MS = 1000;
const MAX_CAUSES = 3;

/** Where libraries have the status, in an error or its response: axios, got, superagent, fetch, AWS (`$metadata`), Telegram. */
const STATUSES = ["status", "statusCode", "httpStatusCode", "error_code", "code"];
/**
 * Where they have the body of the response. Nothing that a request was made of is among them: `config`, `request`, `headers`,
 * `options`, `requestBody`, `payload`.
 */
const IN_RESPONSE = ["data", "_data", "body", "rawBody", "text", "bodyText", "errors", "error"];
const IN_ERROR = [
  ...["data", "body", "bodyText", "responseBody", "responseText", "result"],
  ...["error", "rawError", "raw", "errors", "details"],
];

type Fields = Record<string, unknown>;

/** Returns the value as one that can have properties; undefined if it can't. */
export const fieldsOf = (value: unknown): Fields | undefined =>
  (typeof value === "object" && value !== null) || typeof value === "function"
    ? (value as Fields)
    : undefined;

/** Returns the HTTP status from 400 that a thrown value names, whatever library threw it. */
function statusOf(thrown: unknown): number | undefined {
  const error = fieldsOf(thrown);
  if (!error) return undefined;
  const places = [error.response, error, error.$metadata, error.$response].map(fieldsOf);
  return places
    .flatMap(place => STATUSES.map(name => Number(place?.[name])))
    .find(status => status >= 400 && status < 600);
}

/** Returns the response that a thrown value is about, in the shapes of HTTP clients and of SDKs. Getters of it may throw. */
export function responseOf(thrown: unknown, bodies: ReadBodies): VendorResponse {
  const error = fieldsOf(thrown);
  if (!error) return {};
  const response = fieldsOf(error.response);
  const status = statusOf(error);
  const read = (response && bodies.get(response)) ?? bodies.get(error);
  const body =
    read ??
    (typeof error.response === "string" ? error.response : undefined) ??
    bodyIn(response, IN_RESPONSE) ??
    bodyIn(error, IN_ERROR);
  return { ...(status !== undefined && { status }), ...(body && { body: body.slice(0, MAX_BODY_CHARS) }) };
}

function bodyIn(place: Fields | undefined, names: string[]): string | undefined {
  for (const name of names) {
    const text = place && textOf(place[name]);
    if (text) return text;
  }
  return undefined;
}

/** Streams, sockets and responses have no text; an error among `errors` is said elsewhere. */
function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value.slice(0, MAX_BODY_CHARS);
  if (value instanceof ArrayBuffer) return textOf(new Uint8Array(value));
  if (value instanceof Uint8Array) return decoded(value);
  if (Array.isArray(value) && value.some(one => one instanceof Error)) return undefined;
  // Stripe has the response's headers beside its fields.
  const text = shownJson(value, MAX_BODY_CHARS, ["headers"]);
  return text === "{}" || text === "[]" ? undefined : text;
}

function decoded(bytes: Uint8Array): string | undefined {
  const text = Buffer.from(bytes.subarray(0, MAX_BODY_CHARS)).toString("utf8");
  return text.includes("\0") ? `${bytes.length} bytes` : text;
}

/**
 * Reads the beginning of the bodies that an error, and what caused it, came with unread: `fetch` and what is built on it leave
 * that to their caller, and so does a client that was asked for a stream.
 */
export async function readBodies(thrown: unknown): Promise<ReadBodies> {
  const bodies = new Map<object, string>();
  try {
    let error = fieldsOf(thrown);
    for (let depth = 0; error && depth <= MAX_CAUSES; depth++, error = fieldsOf(error.cause)) {
      const response = fieldsOf(error.response) ?? error;
      const stream = [response.body, response.data].find(isUnread);
      const text = stream && response.bodyUsed !== true ? await beginningOf(stream) : "";
      if (text) bodies.set(response, text);
    }
  } catch {
    // A getter of the code's own.
  }
  return bodies;
}

function isUnread(value: unknown): value is AsyncIterable<unknown> {
  const stream = fieldsOf(value);
  return typeof stream?.[Symbol.asyncIterator as never] === "function" && stream.locked !== true;
}

async function beginningOf(stream: AsyncIterable<unknown>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>(resolve => {
    timer = setTimeout(resolve, READ_MS);
  });
  const read = async () => {
    for await (const chunk of stream) {
      const part = typeof chunk === "string" ? Buffer.from(chunk) : Buffer.from(chunk as Uint8Array);
      chunks.push(part);
      bytes += part.length;
      if (bytes >= MAX_BODY_CHARS) break;
    }
  };
  await Promise.race([read().catch(() => {}), late]);
  clearTimeout(timer);
  return decoded(Buffer.concat(chunks)) ?? "";
}

/** How texts say it, such as "Request failed with status code 401", "HTTP 401" or "401 Unauthorized". */
const SAYS_SO = /^\W*401\b|\b401\W{1,3}unauthori[sz]ed|\b(?:status|code|http|error|response)\W{0,3}401\b/i;
const MAX_CHARS = 2000;

/**
 * True if what code threw says that a server rejected its credentials: HTTP 401. HTTP clients differ in where they say it: in
 * `status`, `statusCode` or `code`, in those of `response`, or in the message alone.
 */
export function isUnauthorized(thrown: unknown): boolean {
  try {
    return saysUnauthorized(thrown, 0);
  } catch {
    // A getter of the code's own.
    return false;
  }
}

function saysUnauthorized(thrown: unknown, depth: number): boolean {
  if (typeof thrown !== "object" || thrown === null) return isText(thrown) && saysSo(thrown);
  const { message, cause } = thrown as Record<string, unknown>;
  const said = statusOf(thrown);
  if (said !== undefined) return said === 401;
  if (isText(message) && saysSo(message)) return true;
  return depth < MAX_CAUSES && cause !== undefined && saysUnauthorized(cause, depth + 1);
}

const isText = (value: unknown): value is string => typeof value === "string";
const saysSo = (text: string): boolean => SAYS_SO.test(text.slice(0, MAX_CHARS));

const MAX_DEPTH = 6;

/**
 * Returns the JSON of plain values without fields of some names, cut to so many characters; undefined for anything else, such
 * as a stream or a socket. It takes no longer for a large value than for a small one.
 */
export function shownJson(value: unknown, maxChars: number, without: string[] = []): string | undefined {
  let left = maxChars;
  const cutToFit = (text: string): string => {
    const taken = text.slice(0, Math.max(0, left));
    left -= text.length;
    return taken;
  };
  const listed = (
    one: Iterable<[string | undefined, unknown]>,
    [open, close]: string,
    depth: number,
  ): string => {
    let [text, isFirst] = [cutToFit(open as string), true];
    for (const [name, item] of one) {
      if (left <= 0) return text;
      if (!isShown(item) || (name !== undefined && without.includes(name))) continue;
      if (!isFirst) text += cutToFit(",");
      if (name !== undefined) text += cutToFit(`${JSON.stringify(name.slice(0, 200))}:`);
      text += write(item, depth + 1);
      isFirst = false;
    }
    return text + cutToFit(close as string);
  };
  const write = (one: unknown, depth: number): string => {
    if (one instanceof Error) return cutToFit(JSON.stringify(String(one.message).slice(0, maxChars)));
    if (typeof one === "string") return cutToFit(JSON.stringify(one.slice(0, maxChars)));
    if (typeof one !== "object" || one === null) return cutToFit(String(one));
    if (depth >= MAX_DEPTH) return cutToFit('"…"');
    return Array.isArray(one) ? listed(itemsOf(one), "[]", depth) : listed(Object.entries(one), "{}", depth);
  };
  return typeof value === "object" && value !== null && isShown(value) && !(value instanceof Error)
    ? write(value, 0)
    : undefined;
}

function* itemsOf(list: unknown[]): Iterable<[undefined, unknown]> {
  for (const item of list) yield [undefined, item];
}

function isShown(value: unknown): boolean {
  if (typeof value === "function" || typeof value === "symbol" || value === undefined) return false;
  if (typeof value !== "object" || value === null || Array.isArray(value) || value instanceof Error)
    return true;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
