import type { Context, Middleware } from "koa";
import { isAccessToken } from "../accounts/access-tokens.ts";
import { isConnectorToken } from "../accounts/api-keys.ts";
import type { KeyGate } from "../http/authorize.ts";
import type { CallRoute } from "../http/call-route.ts";
import { problemOf } from "../http/problem.ts";
import { requestState } from "../http/request-log.ts";
import type { AnyRoute, Caller } from "../http/route.ts";
import { AppError, invalidField, notFound } from "../lib/errors.ts";
import { stringifyJson } from "../lib/json-text.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { Calling as CallingPlatform, Stores, Working } from "../platform.ts";
import { noteClient } from "./client-info.ts";
import { eventsOf } from "./events/events.ts";
import { idOf, readBody, readMessage } from "./message.ts";
import { resultOf, type Served } from "./methods.ts";
import { challengeOf, offersOAuth } from "./oauth/paths.ts";
import { RpcError } from "./protocol.ts";
import { resourcesOf } from "./resources.ts";
import { type Calling, toolsOf } from "./tools.ts";

const MCP_PATH = "/mcp";
/** Below it, the token of a connector URL. */
const CONNECTOR_PREFIX = `${MCP_PATH}/c/`;

/** Returns true for the paths at which agents are served. */
export const isMcpPath = (path: string): boolean => path === MCP_PATH || path.startsWith(CONNECTOR_PREFIX);

export interface McpOptions<Deps> {
  platform: Working & CallingPlatform;
  gate: KeyGate;
  /** The routes of the API, which the tools call. */
  routes: readonly AnyRoute<Deps>[];
  callRoute: CallRoute<Deps>;
}

/**
 * Serves the Model Context Protocol at `POST /mcp` (docs/agents.md), without sessions: each request says all of itself. Its
 * order: method, origin, API key and rate limit, account, message, method of the protocol. Only a key lets in, in its header, by a
 * connector URL, or by an access token that a consent led to, never a browser's session, so a page that a browser was tricked into (DNS
 * rebinding) has nothing to send along.
 */
export function mcpServer<Deps>({ platform, gate, routes, callRoute }: McpOptions<Deps>): Middleware {
  const byId = new Map(routes.map(route => [route.id, route]));
  const find = (id: string) => {
    const route = byId.get(id);
    if (!route) throw new Error(`there is no route ${id}`);
    return route;
  };
  // At the first request: the schemas of all tools are megabytes, and many installations have no agents.
  let served: Served | undefined;
  const open = (): Served => ({
    version: platform.config.version,
    tools: toolsOf(find, callRoute),
    resources: resourcesOf(find, callRoute),
    events: eventsOf(platform, find, callRoute),
    onFault: logFault,
    onMessage: ({ params }, { caller }) => noteClient(platform, caller.keyId, params),
  });
  return async (ctx, next) => {
    if (!isMcpPath(ctx.path)) return next();
    const isConnector = ctx.path !== MCP_PATH;
    requestState(ctx).route = isConnector ? `${CONNECTOR_PREFIX}{token}` : MCP_PATH;
    ctx.set("Cache-Control", "no-store");
    checkRequest(ctx, platform.config.publicUrl);
    const caller = isConnector ? await connected(gate, ctx) : await authenticated(platform, gate, ctx);
    requestState(ctx).userId = caller.userId;
    const { orgId, asksToWrite } = readQuery(ctx);
    if (orgId !== undefined && !caller.orgIds.includes(orgId)) throw notFound("organization");
    served ??= open();
    const mayWrite = asksToWrite && platform.config.mcp === "write" && caller.key?.access === "full";
    await respond(ctx, served, { ctx, caller, orgId, mayWrite });
  };
}

/** Returns the caller of an API key or an access token. A host without one is told where it is authorized. */
async function authenticated(platform: Stores, gate: KeyGate, ctx: Context): Promise<Caller> {
  try {
    return await gate.bearer(ctx, { isToken: isAccessToken });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "unauthenticated" || !offersOAuth(platform))
      throw error;
    throw new AppError("unauthenticated", error.message, { challenge: challengeOf(platform) });
  }
}

/** Returns the caller of a connector URL; a header `Authorization` is not looked at. */
async function connected(gate: KeyGate, ctx: Context): Promise<Caller> {
  const token = ctx.path.slice(CONNECTOR_PREFIX.length);
  if (!isConnectorToken(token)) throw notFound("path");
  return await gate.callerAt(ctx, token);
}

/** Throws `method-not-allowed` for anything but POST, and `forbidden` for a page of another site. */
function checkRequest(ctx: Context, publicUrl: string): void {
  if (ctx.method !== "POST") {
    ctx.set("Allow", "POST");
    throw new AppError("method-not-allowed", `this path does not support ${ctx.method}`);
  }
  const origin = ctx.get("origin");
  // Not the request's host: a name that a stranger has let point here (DNS rebinding) is that too.
  if (origin !== "" && origin !== new URL(publicUrl).origin) {
    throw new AppError("forbidden", "pages of other sites may not send requests here");
  }
}

/**
 * Returns the organization of `?org_id=`, and whether `?write=1` asks for the tools that change things. Throws `invalid` for any
 * other parameter: a misspelled one means another account.
 */
function readQuery(ctx: Context): { orgId: string | undefined; asksToWrite: boolean } {
  const given = new URLSearchParams(ctx.querystring);
  for (const name of given.keys()) {
    if (!PARAMETERS.has(name)) throw invalidField("query", name.slice(0, 100), "is not a known parameter");
    if (given.getAll(name).length > 1) throw invalidField("query", name, "is given more than once");
  }
  const [orgId, write] = [given.get("org_id") ?? undefined, given.get("write")];
  if (write !== null && write !== "1") throw invalidField("query", "write", "must be 1");
  return { orgId, asksToWrite: write === "1" };
}

const PARAMETERS: ReadonlySet<string> = new Set(["org_id", "write"]);

async function respond(ctx: Context, served: Served, calling: Calling): Promise<void> {
  let body: unknown;
  try {
    body = await readBody(ctx, LIMITS.apiBodyBytes.value);
    const message = readMessage(ctx, body);
    served.onMessage(message, calling);
    if (message.id === undefined) {
      ctx.status = 202;
      ctx.body = "";
      ctx.type = "";
      return;
    }
    const result = await resultOf(served, message, calling);
    send(ctx, 200, { jsonrpc: "2.0", id: message.id, result });
  } catch (error) {
    const { code, message, status, data } = error instanceof RpcError ? error : faultOf(error, calling);
    requestState(ctx).error = message;
    send(ctx, status, {
      jsonrpc: "2.0",
      id: idOf(body) ?? null,
      error: { code, message, ...(data && { data }) },
    });
  }
}

/** A call inside may have set another status and type. */
function send(ctx: Context, status: number, message: object): void {
  ctx.status = status;
  ctx.body = stringifyJson(message);
  ctx.type = "json";
}

/** Returns what a client is told of an error that no method expects. Throws what is a matter of HTTP, such as a body too large. */
function faultOf(error: unknown, calling: Calling): RpcError {
  if (error instanceof AppError) throw error;
  logFault(error, calling);
  return new RpcError("internal", problemOf(error).problem.detail);
}

function logFault(error: unknown, { ctx }: Calling): void {
  if (!(error instanceof AppError)) requestState(ctx).log.error({ err: error }, "request failed");
}
