import type { ComponentCall, HttpResponse } from "../protocol.ts";
import { objectOf, type PropDefinition, withHidden } from "./component.ts";
import { MAX_COOKIES, MAX_SECRET } from "./wire.ts";

interface Row {
  name?: string;
  value?: string;
  disabled?: boolean;
}

/**
 * Returns an `http_request` prop: the configured request, and `execute()`, which sends it and returns the response with its
 * parsed body as `data`.
 */
export function httpRequestProp(value: unknown): Record<string, unknown> {
  const given = objectOf(value);
  return withHidden({ ...given }, { execute: () => execute(given) });
}

interface HttpRequestResponse {
  status: number;
  headers: Record<string, string>;
  /** The body, parsed if it is JSON. */
  data: unknown;
}

async function execute(given: Record<string, unknown>): Promise<HttpRequestResponse> {
  const url = new URL(String(given.url));
  for (const { name = "", value = "" } of rows(given.params)) url.searchParams.append(name, value);
  const headers = new Headers(rows(given.headers).map(({ name = "", value = "" }) => [name, value]));
  authorize(headers, objectOf(given.auth));
  const method = String(given.method ?? "GET").toUpperCase();
  const body = method === "GET" || method === "HEAD" ? undefined : readBody(given.body, headers);
  const response = await fetch(url, { method, headers, ...(body === undefined ? {} : { body }) });
  const text = await response.text();
  if (!response.ok) {
    throw Object.assign(new Error(`Request failed with status code ${response.status}`), {
      name: "HttpRequestError",
      response: { status: response.status, data: text },
    });
  }
  return { status: response.status, headers: Object.fromEntries(response.headers), data: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function rows(list: unknown): Row[] {
  return Array.isArray(list) ? (list as Row[]).filter(row => row?.name && !row.disabled) : [];
}

function authorize(headers: Headers, auth: Record<string, unknown>): void {
  if (auth.type === "bearer" && auth.token) headers.set("authorization", `Bearer ${String(auth.token)}`);
  if (auth.type === "basic" && auth.username) {
    const pair = Buffer.from(`${String(auth.username)}:${String(auth.password ?? "")}`).toString("base64");
    headers.set("authorization", `Basic ${pair}`);
  }
}

function readBody(given: unknown, headers: Headers): string | undefined {
  if (typeof given === "string") return given;
  const body = objectOf(given);
  const contentType = typeof body.contentType === "string" ? body.contentType : "application/json";
  const fields = rows(body.fields).map(({ name = "", value = "" }): [string, string] => [name, value]);
  const raw = body.raw ?? (fields.length > 0 ? Object.fromEntries(fields) : undefined);
  if (raw === undefined) return undefined;
  if (!headers.has("content-type")) headers.set("content-type", contentType);
  if (typeof raw === "string") return raw;
  return contentType.includes("urlencoded") ? String(new URLSearchParams(fields)) : JSON.stringify(raw);
}

/**
 * Converts the argument of `respond` (docs/component-api.md#events-given-to-run). Throws TypeError or RangeError if it
 * can't be sent; `maxBytes` limits the body.
 */
export function readResponse(given: unknown, maxBytes: number): HttpResponse {
  const { status = 200, headers, body } = (given ?? {}) as Record<string, unknown>;
  const code = Number(status);
  if (!Number.isInteger(code) || code < 200 || code > 599) {
    throw new TypeError(`respond: ${String(status)} is not a valid status; it must be between 200 and 599`);
  }
  const checkedHeaders = readHeaders(headers);
  const bytes = bodyOf(body, checkedHeaders);
  if (bytes.length > maxBytes) throw new RangeError(`respond: a body can have at most ${maxBytes} bytes`);
  return { status: code, headers: checkedHeaders, bodyBase64: bytes.toString("base64") };
}

function readHeaders(given: unknown): HttpResponse["headers"] {
  const headers: HttpResponse["headers"] = {};
  for (const [name, value] of Object.entries((given ?? {}) as Record<string, unknown>)) {
    if (value === undefined || value === null) continue;
    // Cookies can't be joined: a date in a cookie has a comma of its own.
    const isList = Array.isArray(value) && name.toLowerCase() === "set-cookie";
    const texts = isList ? value.map(String) : [Array.isArray(value) ? value.join(", ") : String(value)];
    if (!/^[\w!#$%&'*+.^`|~-]{1,200}$/.test(name)) {
      throw new TypeError(`respond: "${name}" is not a valid header name`);
    }
    // The characters that HTTP permits in a value. A line break is not among them: it would start another header.
    if (texts.length > MAX_COOKIES) {
      throw new TypeError(`respond: the header "${name}" can have at most ${MAX_COOKIES} values`);
    }
    if (!texts.every(text => /^[\t\x20-\x7e\x80-\xff]{0,8192}$/.test(text))) {
      throw new TypeError(
        `respond: the value of the header "${name}" contains characters that are not permitted, or is too long`,
      );
    }
    headers[name] = isList ? texts : (texts[0] ?? "");
  }
  return headers;
}

function bodyOf(body: unknown, headers: HttpResponse["headers"]): Buffer {
  if (body === undefined || body === null) return Buffer.alloc(0);
  if (body instanceof Uint8Array) return Buffer.from(body);
  if (body instanceof ArrayBuffer) return Buffer.from(new Uint8Array(body));
  if (typeof body !== "object") return Buffer.from(String(body));
  if (!Object.keys(headers).some(name => name.toLowerCase() === "content-type")) {
    headers["content-type"] = "application/json; charset=utf-8";
  }
  return Buffer.from(JSON.stringify(body));
}

/**
 * Returns the argument of `setSecret` (docs/component-api.md#hooks). Throws TypeError if it is not a secret, outside of the hooks that
 * set a source up, and for an interface whose requests it would not verify.
 */
export function readSecret(given: unknown, { verify }: PropDefinition, caller: ComponentCall): string {
  if (caller !== "deploy" && caller !== "activate") {
    throw new TypeError("setSecret: only the hooks deploy and activate can call it");
  }
  if (objectOf(objectOf(verify).secret).from !== "hook") {
    throw new TypeError('setSecret: the interface has no verify with secret: { from: "hook" }');
  }
  if (typeof given !== "string" || given === "" || given.length > MAX_SECRET) {
    throw new TypeError(`setSecret: the secret must be a text of 1 to ${MAX_SECRET} characters`);
  }
  return given;
}
