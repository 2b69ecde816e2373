import { setOperator } from "../../src/accounts/operators.ts";
import type { AnyRoute } from "../../src/http/route.ts";
import { newId } from "../../src/lib/ids.ts";
import { Host } from "../mcp/oauth/host.ts";
import type { Api, ApiResponse } from "../support/api.ts";
import {
  newInvitation,
  newMember,
  type Owner,
  orgQuery,
  storeEvent,
  THINGS,
  thing,
  type World,
} from "./things.ts";

/** The example request of a route with ids of resources that exist. */
export interface ExampleRequest {
  method: string;
  path: string;
  query: Record<string, string | number>;
  body?: Record<string, unknown>;
}

/** Returns the key in THINGS of the resource that a route's path names, or undefined. */
export function thingOf({ access }: AnyRoute): string | undefined {
  if (access.kind !== "resource") return undefined;
  const { what, param = "id" } = access;
  return param === "id" || param.endsWith("_id") ? what : `${what} by ${param}`;
}

const recover = (_: World, { api }: Owner, { path }: ExampleRequest) =>
  api.request("POST", path, { body: { since: 0 } });

const hosts = new WeakMap<World, Promise<Host>>();

/** Has an agent's host ask for a consent; one host for all of them, as an address may register a few only. */
async function askForConsent(world: World, { api }: Owner, { query, body }: ExampleRequest) {
  const host = hosts.get(world) ?? registeredHost(api);
  hosts.set(world, host);
  const response = await fetch((await host).authorizeUrl(), { redirect: "manual" });
  const location = new URL(response.headers.get("location") ?? "", api.baseUrl);
  Object.assign(body ?? query, { request: location.searchParams.get("request") });
}

async function registeredHost(api: Api): Promise<Host> {
  const host = new Host(api);
  await host.register();
  return host;
}

/** What must exist for the example to work, besides the resources that it names. */
const BEFORE: Record<string, (world: World, owner: Owner, request: ExampleRequest) => Promise<unknown>> = {
  deleteSubscription: (_, { api }, { query }) => api.expect(200, "POST", "/subscriptions", { query }),
  // Not an id: the key of the example is nobody's.
  createSession: async (_, { api }, { body = {} }) => Object.assign(body, { api_key: api.apiKey }),
  // An address is a user's once.
  createUser: async (world, owner, { body = {} }) => {
    await asOperator(world, owner);
    Object.assign(body, { email: `user-${newId("u")}@example.test` });
  },
  getPrivateAddresses: asOperator,
  openPrivateAddresses: asOperator,
  getAgentConsent: askForConsent,
  decideAgentConsent: askForConsent,
  getRecovery: recover,
  getDestinationRecovery: recover,
  traceEvent: storeNamedEvent,
  replayEvent: storeNamedEvent,
};

/** Lets the owner of the request do what operators do. */
async function asOperator({ system }: World, { api }: Owner): Promise<void> {
  await setOperator(system.worker, api.userId, true);
}

/** Stores the event that a path below `/events` names, of the emitter in the query. */
function storeNamedEvent(world: World, owner: Owner, { path, query }: ExampleRequest) {
  const [, eventId = ""] = /^\/events\/([^/]+)/.exec(path) ?? [];
  return storeEvent(world, owner, { emitterId: String(query.emitter_id), eventId });
}

const ID = /^([a-z]+)_[A-Za-z0-9]{16}$/;

/** Returns a copy with every id replaced by the id of a resource of the same kind. */
async function withRealIds<T>(value: T, realId: (kind: string, id: string) => Promise<string>): Promise<T> {
  if (typeof value === "string") {
    const prefix = ID.exec(value)?.[1];
    const kind = Object.keys(THINGS).find(name => prefix && THINGS[name]?.prefix === prefix);
    return (kind ? await realId(kind, value) : value) as T;
  }
  if (typeof value !== "object" || value === null) return value;
  const entries: [string, unknown][] = [];
  for (const [key, inner] of Object.entries(value)) entries.push([key, await withRealIds(inner, realId)]);
  return (Array.isArray(value) ? entries.map(([, inner]) => inner) : Object.fromEntries(entries)) as T;
}

/**
 * Returns the example request of a route as `owner` would send it: ids are those of `owner`'s resources, and the
 * resource of the path is `resource` or a new one. Throws for an unknown path parameter.
 */
export async function exampleRequest(
  world: World,
  route: AnyRoute,
  owner: Owner,
  resource?: string,
): Promise<ExampleRequest> {
  const ids = new Map<string, Promise<string>>();
  const realId = (kind: string, id: string) => {
    const known = ids.get(id) ?? thing(kind).make(world, owner);
    ids.set(id, known);
    return known;
  };
  let path = route.path;
  for (const [braces, name = ""] of route.path.matchAll(/\{(\w+)\}/g)) {
    path = path.replace(braces, encodeURIComponent(await pathValue(world, route, owner, name, resource)));
  }
  const query = { ...((await withRealIds(route.example?.query, realId)) as object | undefined) };
  const body = (await withRealIds(route.example?.body, realId)) as Record<string, unknown> | undefined;
  const request = {
    method: route.method,
    path,
    query: { ...query, ...(route.access.kind === "owner" && orgQuery(owner)) },
    ...(body && { body }),
  };
  await BEFORE[route.id]?.(world, owner, request);
  return request;
}

async function pathValue(world: World, route: AnyRoute, owner: Owner, name: string, resource?: string) {
  const { access } = route;
  if (access.kind === "resource" && name === (access.param ?? "id")) {
    return resource ?? (await thing(thingOf(route) ?? "").make(world, owner));
  }
  if (access.kind === "member" && name === "org_id" && owner.orgId) return owner.orgId;
  if (access.kind === "member" && name === "user_id") return await newMember(world, owner);
  if (access.kind === "member" && name === "id") return await newInvitation(world, owner, "new@example.test");
  // An operator names things of any account.
  if (access.kind === "operator" && name === "id") return await thing("connection").make(world, owner);
  // What the path names is not a resource: an event of the emitter in the query, the first version of a source, or what came
  // with the release.
  const example = (route.example?.params as Record<string, string> | undefined)?.[name];
  if (["owner", "caller", "resource"].includes(access.kind) && example) return example;
  throw new Error(`${route.id}: nothing fills {${name}}; see exampleRequest in test/contract/requests.ts`);
}

/** Sends the request; reads only the headers of an endless stream. */
export async function send(
  api: Api,
  route: AnyRoute,
  { method, path, query, body }: ExampleRequest,
  headers: Record<string, string> = {},
  // biome-ignore lint/suspicious/noExplicitAny: each test expects a different body
): Promise<ApiResponse<any>> {
  const isEndless = route.response.kind === "stream" && route.response.contentType === "text/event-stream";
  const abort = new AbortController();
  const options = { query, headers, ...(body && { body }) };
  if (!isEndless) return api.request(method, path, options);
  const response = await fetch(
    `${api.baseUrl}${path}?${new URLSearchParams(query as Record<string, string>)}`,
    {
      method,
      headers: { ...(api.apiKey && { authorization: `Bearer ${api.apiKey}` }), ...headers },
      signal: abort.signal,
    },
  );
  const text = response.ok ? "" : await response.text();
  abort.abort();
  return { status: response.status, headers: response.headers, text, body: text ? JSON.parse(text) : text };
}
