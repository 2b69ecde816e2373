import { startDeadline } from "./deadline.ts";
import { type ApiError, ConnectionError, errorOf, HeadwaterError, TimeoutError } from "./errors.ts";
import { createIdempotencyKey } from "./idempotency-key.ts";
import type { InputOf, MethodOf, Path, ResultOf } from "./operations.ts";
import type { CallOptions, HeadwaterOptions } from "./options.ts";
import { isPassing, LONGEST_RETRY_AFTER_MS, readRetryAfter, wait, waitMs } from "./retry.ts";
import type { Problem } from "./schema.ts";

const TIMEOUT_MS = 60_000;
const MAX_RETRIES = 2;

/** A query parameter; what is undefined is left out. */
type Query = Record<string, string | number | boolean | undefined>;

/** One request, with everything that stays the same over its retries. */
interface Prepared {
  /** `GET /v1/sources`, for messages. */
  name: string;
  method: string;
  url: URL;
  headers: Headers;
  body?: string;
}

/** The way to one server: addresses, headers, retries and errors. */
export class Connection {
  readonly orgId: string | undefined;
  readonly #base: string;
  readonly #apiKey: string | undefined;
  readonly #fetch: typeof globalThis.fetch;
  readonly #timeoutMs: number | undefined;
  readonly #maxRetries: number;
  readonly #maxWaitMs: number;

  constructor(options: HeadwaterOptions) {
    this.#base = readUrl(options.url);
    this.#apiKey = readApiKey(options.apiKey);
    this.orgId = options.orgId;
    // Some platforms reject a `fetch` that is called as a method of another object.
    this.#fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
    this.#timeoutMs = options.timeoutMs;
    readCount("timeoutMs", options.timeoutMs ?? TIMEOUT_MS, 1);
    this.#maxRetries = readCount("maxRetries", options.maxRetries ?? MAX_RETRIES, 0);
    this.#maxWaitMs = readCount("maxWaitMs", options.maxWaitMs ?? LONGEST_RETRY_AFTER_MS, 0);
  }

  /** Sends a request of the API and returns the `data` of its response, or the page of a list. */
  async send<P extends Path, M extends MethodOf<P>>(
    method: M,
    path: P,
    input: InputOf<P, M>,
    options: CallOptions & { usualMs?: number } = {},
  ): Promise<ResultOf<P, M>> {
    const { params, query, body } = input as {
      params?: Record<string, string>;
      query?: Query;
      body?: unknown;
    };
    const prepared = this.#prepare(method.toUpperCase(), path, { params, query });
    if (method === "post") {
      prepared.headers.set("idempotency-key", options.idempotencyKey ?? createIdempotencyKey());
    }
    if (options.ifMatch !== undefined) prepared.headers.set("if-match", `"${options.ifMatch}"`);
    if (body !== undefined || method === "post" || method === "put") {
      prepared.headers.set("content-type", "application/json");
      prepared.body = typeof body === "string" ? body : JSON.stringify(body ?? {});
    }
    const json = await this.#attempts(prepared, options);
    if (json === undefined) return json as ResultOf<P, M>;
    // This document is all of the API's that has no envelope.
    const isOurs = typeof json === "object" && json !== null && ("data" in json || path === "/openapi.json");
    if (!isOurs) throw notHeadwater(prepared.name, "one of its API");
    const { data } = json as { data?: unknown };
    // A list is returned with its `page_info`, if it has one.
    return (data === undefined || Array.isArray(data) ? json : data) as ResultOf<P, M>;
  }

  /** Opens a stream. Throws as `send` does, and does not retry: its reader resumes. */
  async open(path: Path, query: Query, given: { headers: Record<string, string>; signal: AbortSignal }) {
    const prepared = this.#prepare("GET", path, { query });
    for (const [name, value] of Object.entries(given.headers)) prepared.headers.set(name, value);
    const response = await this.#request(prepared, given.signal).catch(error => {
      throw new ConnectionError(`${prepared.name}: no response (${reasonOf(error)})`, { cause: error });
    });
    if (!response.ok) throw await readError(prepared.name, response);
    const type = response.headers.get("content-type") ?? "";
    if (!type.startsWith("text/event-stream")) throw notHeadwater(prepared.name, "an event stream");
    return response;
  }

  #prepare(
    method: string,
    path: Path,
    { params = {}, query = {} }: { params?: Record<string, string> | undefined; query?: Query | undefined },
  ): Prepared {
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeSegment(name, params[name]));
    const url = new URL(this.#base + filled);
    for (const [name, value] of Object.entries({ ...this.#inOrganization(path), ...query })) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const headers = new Headers({ accept: "application/json" });
    if (this.#apiKey) headers.set("authorization", `Bearer ${this.#apiKey}`);
    return { name: `${method} ${url.pathname}`, method, url, headers };
  }

  /** Lists of an organization name it in their path; a user's own lists have none. */
  #inOrganization(path: Path): Query {
    return path.startsWith("/orgs/") || path.startsWith("/users/") ? {} : { org_id: this.orgId };
  }

  async #attempts(prepared: Prepared, options: CallOptions & { usualMs?: number }): Promise<unknown> {
    const maxRetries = readCount("maxRetries", options.maxRetries ?? this.#maxRetries, 0);
    let isUncertain = false;
    for (let retry = 0; ; retry += 1) {
      const outcome = await this.#attempt(prepared, options);
      if (!(outcome instanceof HeadwaterError)) return outcome.json;
      const { status = 0, retryAfterMs = null } = outcome as Partial<ApiError>;
      // What an attempt without a response may have deleted is gone.
      if (isUncertain && prepared.method === "DELETE" && status === 404) return undefined;
      const isFinal = status !== 0 && !isPassing(status, retryAfterMs);
      if (isFinal || retry >= maxRetries || (retryAfterMs ?? 0) > this.#maxWaitMs) throw outcome;
      isUncertain ||= status === 0 || status >= 500;
      await wait(waitMs(retry, retryAfterMs), options.signal);
    }
  }

  /** Returns the body, or why there is none. Throws only what the caller's signal says. */
  async #attempt(
    prepared: Prepared,
    { signal, timeoutMs = this.#timeoutMs, usualMs = TIMEOUT_MS }: CallOptions & { usualMs?: number },
  ): Promise<{ json: unknown } | HeadwaterError> {
    signal?.throwIfAborted();
    const ms = readCount("timeoutMs", timeoutMs ?? usualMs, 1);
    const deadline = startDeadline(ms, signal);
    let text: string;
    try {
      const response = await this.#request(prepared, deadline.signal);
      if (!response.ok) return await readError(prepared.name, response);
      text = await response.text();
    } catch (error) {
      signal?.throwIfAborted();
      if (deadline.isOver()) return new TimeoutError(`${prepared.name}: no response within ${ms} ms`);
      return new ConnectionError(`${prepared.name}: no response (${reasonOf(error)})`, { cause: error });
    } finally {
      deadline.clear();
    }
    return { json: text === "" ? undefined : parseBody(prepared.name, text) };
  }

  /** Redirects are not followed: the key would go elsewhere, and a POST would become a GET. */
  #request({ url, method, headers, body }: Prepared, signal: AbortSignal): Promise<Response> {
    return this.#fetch(url, {
      method,
      headers,
      signal,
      redirect: "manual",
      ...(body !== undefined && { body }),
    });
  }
}

/** The address with `/v1` and without a slash at its end. Throws for one that can't be right. */
function readUrl(text: string): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new HeadwaterError("url must be an address such as https://headwater.example.com");
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new HeadwaterError("url must start with http:// or https://");
  }
  if (url.username || url.password)
    throw new HeadwaterError("url must have no credentials: give them as apiKey");
  const path = url.pathname.replace(/\/+$/, "").replace(/\/v1$/, "");
  return `${url.origin}${path}/v1`;
}

/** A key with other characters would be in the message of the error that `Headers` throws. */
function readApiKey(apiKey: string | undefined): string | undefined {
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new HeadwaterError("apiKey must consist of visible ASCII characters, without spaces or line ends");
  }
  return apiKey;
}

function readCount(name: string, value: number, least: number): number {
  if (!Number.isSafeInteger(value) || value < least) {
    throw new HeadwaterError(`${name} must be an integer from ${least}`);
  }
  return value;
}

/** A part of a path. One that is empty or a dot would lead to another path. */
function encodeSegment(name: string, value: unknown): string {
  if (typeof value !== "string" || value === "" || value === "." || value === "..") {
    throw new HeadwaterError(`${name} must be a text that is not empty`);
  }
  return encodeURIComponent(value);
}

/** Reads the error of a response outside 2xx; a proxy's page is only its status. */
async function readError(request: string, response: Response): Promise<ApiError> {
  const { status, headers } = response;
  const isRedirect = response.type === "opaqueredirect" || (status >= 300 && status < 400);
  const text = await response.text();
  return errorOf({
    request,
    // Browsers hide that of a redirect.
    status: status || 302,
    problem: isRedirect
      ? { detail: "redirects are not followed: url must be the address they lead to" }
      : parseProblem(text),
    requestId: headers.get("x-request-id"),
    retryAfterMs: readRetryAfter(headers.get("retry-after")),
  });
}

/** Throws for a page of somebody else: it is not retried. */
function parseBody(request: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw notHeadwater(request, "JSON");
  }
}

const notHeadwater = (request: string, wanted: string) =>
  new HeadwaterError(`${request}: the response is not ${wanted}: url must be the address of a Headwater`);

function parseProblem(text: string): Partial<Problem> {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === "object" && json !== null ? json : {};
  } catch {
    return {};
  }
}

/** Node's `fetch failed` says why in its cause. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as { message?: string; cause?: { code?: string; message?: string } };
  const reason = cause?.code ?? cause?.message;
  return reason ? `${message}: ${reason}` : (message ?? String(error));
}
