import type { Context } from "koa";
import { checkShape, readJson } from "../http/json-body.ts";
import { AppError } from "../lib/errors.ts";
import { isObject } from "../lib/json.ts";
import { type CODES, type Era, HEADERS, META, NAMED_BY, RpcError, VERSIONS } from "./protocol.ts";

/** A message whose form and headers are right, whether or not there is such a method. */
export interface Message {
  era: Era;
  /** Absent for a notification, and for a response, of which none is awaited: this server sends no requests. */
  id: RequestId | undefined;
  method: string;
  params: Record<string, unknown>;
}

export type RequestId = string | number;

/** What a body says; nothing of it is checked. */
interface Body {
  jsonrpc?: unknown;
  id?: unknown;
  method?: unknown;
  params?: unknown;
  result?: unknown;
  error?: unknown;
}

/** An error at the door: the message is not one that any method could respond to. */
const broken = (code: keyof typeof CODES, message: string, data?: object): RpcError =>
  new RpcError(code, message, { status: 400, ...(data && { data }) });

/** Returns the id of a request; undefined for anything else. */
export const idOf = (body: unknown): RequestId | undefined => {
  const { id } = (isObject(body) ? body : {}) as Body;
  return typeof id === "string" || Number.isSafeInteger(id) ? (id as RequestId) : undefined;
};

/** Reads the JSON of a body. Throws RpcError for what is not JSON, and AppError for what is too large or of another type. */
export async function readBody(ctx: Context, maxBytes: number): Promise<unknown> {
  try {
    return (await readJson(ctx, maxBytes)).value;
  } catch (error) {
    if (error instanceof AppError && error.code === "invalid") throw broken("parse", error.message);
    throw error;
  }
}

/**
 * Returns the message of a body. Throws RpcError. The headers are compared with the body before either is judged, so that who
 * trusts the headers on the way and this server never see two different requests.
 */
export function readMessage(ctx: Context, body: unknown): Message {
  const { method, params = {} } = checkForm(body);
  const id = idOf(body);
  if (method === undefined) return { era: "legacy", id: undefined, method: "", params: {} };
  const meta = isObject(params._meta) ? params._meta : {};
  const named = ctx.get(HEADERS.version);
  const isModern = meta[META.version] !== undefined || VERSIONS.modern.includes(named);
  if (isModern) checkModern(ctx, method, params, meta);
  // Before it knows the version, a client can't name it.
  else if (named !== "" && method !== "initialize") checkVersion("legacy", named);
  return { era: isModern ? "modern" : "legacy", id, method, params };
}

/** Returns the parts of a JSON-RPC message; without a method for a response. */
function checkForm(body: unknown): {
  method: string | undefined;
  params: Record<string, unknown> | undefined;
} {
  if (!isObject(body)) throw broken("invalidRequest", "the body must be one JSON-RPC message, and no batch");
  try {
    checkShape(body);
  } catch (error) {
    throw broken("invalidRequest", error instanceof AppError ? error.message : "the body can't be read");
  }
  const { jsonrpc, id, method, params } = body as Body;
  if (jsonrpc !== "2.0") throw broken("invalidRequest", 'jsonrpc must be "2.0"');
  if (id !== undefined && idOf(body) === undefined) {
    throw broken("invalidRequest", "id must be a string or an integer");
  }
  if (params !== undefined && !isObject(params)) throw broken("invalidParams", "params must be an object");
  if (typeof method === "string") return { method, params };
  const isResponse = method === undefined && id !== undefined && ("result" in body || "error" in body);
  if (!isResponse) throw broken("invalidRequest", "method must be a string");
  return { method: undefined, params };
}

function checkModern(
  ctx: Context,
  method: string,
  params: Record<string, unknown>,
  meta: Record<string, unknown>,
): void {
  const version = meta[META.version];
  if (version === undefined) throw broken("invalidParams", `params._meta must have ${META.version}`);
  const name = params[NAMED_BY[method] ?? ""];
  compare(ctx, HEADERS.version, version);
  compare(ctx, HEADERS.method, method);
  if (typeof name === "string") compare(ctx, HEADERS.name, name);
  checkVersion("modern", String(version));
  if (!isObject(meta[META.clientCapabilities])) {
    throw broken("invalidParams", `params._meta must have ${META.clientCapabilities}, an object`);
  }
}

function compare(ctx: Context, header: string, inBody: unknown): void {
  const inHeader = decoded(ctx.get(header));
  if (inHeader === "") throw broken("headerMismatch", `the header ${header} is missing`);
  if (inHeader !== inBody) throw broken("headerMismatch", `the header ${header} is not what the body says`);
}

/** A name that a header can't hold comes as `=?base64?…?=`. */
function decoded(value: string): string {
  const [, encoded] = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(value) ?? [];
  return encoded === undefined ? value : Buffer.from(encoded, "base64").toString("utf8");
}

function checkVersion(era: Era, requested: string): void {
  const supported = VERSIONS[era];
  if (supported.includes(requested)) return;
  throw broken("unsupportedVersion", "this version of the protocol is not supported", {
    supported,
    requested,
  });
}
