import { objectOf } from "./component.ts";
import { withHidden } from "./with-hidden.ts";

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
