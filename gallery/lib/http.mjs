/** What is longer is not a response that events are made of. */
const MAX_BYTES = 10 * 1024 * 1024;
const DEFAULT_MS = 30_000;
const LONGEST_WAIT_MS = 86_400_000;

/** A response that is not a success, in the words of who responded. */
export class ResponseError extends Error {
  name = "ResponseError";

  constructor(url, { status, headers, text }) {
    super(`${withoutSecrets(url)} responded with status ${status}${said(text)}`);
    this.status = status;
    this.retryAfterMs = retryAfterMs(status, headers);
  }
}

/**
 * Sends a request, and returns `{status, headers, bytes, text, url}`. Throws ResponseError for a status of 400 and more, with the
 * message of the response, unless any status will do; neither the query nor credentials in the address are in it.
 */
export async function send(url, { timeoutMs = DEFAULT_MS, isAnyStatus = false, ...options } = {}) {
  const response = await fetch(url, { ...options, signal: AbortSignal.timeout(timeoutMs) });
  const bytes = await readBytes(url, response);
  const { status, headers } = response;
  const read = { status, headers, bytes, text: decoded(bytes, headers), url: response.url || String(url) };
  if (status >= 400 && !isAnyStatus) throw new ResponseError(url, read);
  return read;
}

/** Returns the JSON of a response. Throws an error that shows how the text begins which is not JSON. */
export function jsonOf({ text, url }) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${withoutSecrets(url)} did not respond with JSON${said(text)}`);
  }
}

/** Returns an address as an error may name it. */
export function withoutSecrets(url) {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

async function readBytes(url, response) {
  const chunks = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > MAX_BYTES) {
      await response.body.cancel().catch(() => undefined);
      throw new Error(`${withoutSecrets(url)} responded with more than ${MAX_BYTES / 1024 ** 2} MB`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The charset is that of the type, else that of the XML declaration, else UTF-8. */
function decoded(bytes, headers) {
  const [, ofType] = /charset="?([\w.:-]+)/i.exec(headers.get("content-type") ?? "") ?? [];
  const [, ofXml] = /^\s*<\?xml[^>]*encoding=["']([\w.:-]+)/.exec(bytes.toString("latin1", 0, 200)) ?? [];
  try {
    return new TextDecoder(ofType ?? ofXml ?? "utf-8").decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

/** The places where vendors put what went wrong, in words. */
function said(text) {
  const found = messageIn(text).replace(/\s+/g, " ").trim();
  return found === "" ? "" : `: ${found.slice(0, 300)}`;
}

function messageIn(text) {
  let body;
  try {
    body = JSON.parse(text);
  } catch {
    return text.replace(/<[^>]*>/g, " ");
  }
  const { error, errors, message, detail, description, error_description, title } = Object(body);
  const places = [
    error?.message,
    error_description,
    message,
    detail,
    description,
    errors?.[0]?.message,
    error,
    title,
  ];
  return places.find(one => typeof one === "string" && one !== "") ?? text;
}

function retryAfterMs(status, headers) {
  if (status !== 429 && status !== 503) return undefined;
  const given = headers.get("retry-after");
  if (given === null) return undefined;
  // A date is one of the vendor's clock, whatever ours says.
  const nowMs = Date.parse(headers.get("date") ?? "") || Date.now();
  const wait = /^\d+$/.test(given.trim()) ? 1000 * Number(given) : Date.parse(given) - nowMs;
  return Number.isFinite(wait) && wait > 0 ? Math.min(wait, LONGEST_WAIT_MS) : undefined;
}

/**
 * Does `look`, unless a response before asked to wait and that time is not over. `db` remembers until when; the run in which the
 * request to wait came fails, and those until then do nothing.
 */
export async function heedingWaits(db, look) {
  if (Date.now() < (db.get("wait_until_ms") ?? 0)) return;
  try {
    await look();
  } catch (error) {
    if (error.retryAfterMs) db.set("wait_until_ms", Date.now() + error.retryAfterMs);
    throw error;
  }
}
