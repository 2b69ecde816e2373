import { createServer, request as httpRequest, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { Writable } from "node:stream";
import Koa from "koa";
import { pino } from "pino";
import { Type } from "typebox";
import { KeyGate, type KeyGateOptions } from "../../src/http/authorize.ts";
import { respondError } from "../../src/http/problem.ts";
import { requestLog } from "../../src/http/request-log.ts";
import {
  type AnyRoute,
  accepted,
  type Caller,
  data,
  empty,
  list,
  page,
  routeFor,
  stream,
} from "../../src/http/route.ts";
import { createRouter, type RouterOptions } from "../../src/http/router.ts";

/** The callers, by API key. */
export const CALLERS: Record<string, Caller> = {
  "key-ann": { userId: "u_ann", keyId: "key_ann", orgIds: ["o_red"], roles: { o_red: "owner" } },
  "key-bob": { userId: "u_bob", keyId: "key_bob", orgIds: [], roles: {} },
};

export interface Thing {
  id: string;
  owner: string;
  name: string;
  size: number | null;
}

export interface Deps {
  things: Thing[];
  calls: unknown[];
}

export const ThingSchema = Type.Object(
  {
    id: Type.String(),
    owner: Type.String(),
    name: Type.String(),
    size: Type.Union([Type.Integer(), Type.Null()]),
  },
  { title: "Thing" },
);

const route = routeFor<Deps>();
const thingParams = Type.Object({ id: Type.String({ pattern: "^t_[a-z]+$" }) });

const loadThing = async ({ things }: Deps, id: string, owners: string[]) =>
  things.find(thing => thing.id === id && owners.includes(thing.owner)) ?? null;

export const demoRoutes: AnyRoute<Deps>[] = [
  route({
    method: "POST",
    path: "/things",
    id: "createThing",
    audit: "thing.created",
    tag: "Things",
    summary: "Create a thing",
    access: { kind: "owner" },
    query: Type.Object({
      name: Type.String({ minLength: 1, maxLength: 40 }),
      size: Type.Optional(Type.Union([Type.Integer({ minimum: 0 }), Type.Null()])),
      loud: Type.Optional(Type.Boolean()),
    }),
    body: Type.Object({
      props: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
      shape: Type.Optional(Type.Object({ sides: Type.Integer() }, { additionalProperties: false })),
      color: Type.Optional(Type.Union([Type.Literal("red"), Type.Literal("blue")])),
    }),
    errors: ["conflict"],
    response: data(201, ThingSchema),
    example: { query: { name: "one" }, response: { id: "t_one", owner: "u_ann", name: "one", size: 3 } },
    async handler({ deps, query, body, owner }) {
      deps.calls.push({ query, body });
      return { id: "t_new", owner, name: query.name, size: query.size ?? null };
    },
  }),
  route({
    method: "GET",
    path: "/users/me/things",
    id: "pageThings",
    tag: "Things",
    summary: "List the caller's things",
    access: { kind: "caller" },
    response: page(200, ThingSchema),
    async handler({ deps, page: { limit, after }, owners }) {
      const mine = deps.things.filter(thing => owners.includes(thing.owner));
      const start = after ? mine.findIndex(thing => thing.id === after) + 1 : 0;
      const rows = mine.slice(start, start + limit);
      return {
        rows,
        totalCount: mine.length,
        startCursor: rows[0]?.id ?? null,
        endCursor: rows.at(-1)?.id ?? null,
      };
    },
  }),
  route({
    method: "GET",
    path: "/orgs/{org_id}/things",
    id: "listOrgThings",
    tag: "Things",
    summary: "List an organization's things",
    access: { kind: "member" },
    response: list(200, ThingSchema),
    handler: async ({ deps, owner, page: { limit } }) => {
      const all = deps.things.filter(thing => thing.owner === owner);
      const rows = limit === 0 ? all : all.slice(0, limit);
      return { rows, totalCount: all.length, startCursor: null, endCursor: null };
    },
  }),
  route({
    method: "GET",
    path: "/things/{id}",
    id: "getThing",
    tag: "Things",
    summary: "Get a thing",
    access: { kind: "resource", what: "thing", load: loadThing },
    params: thingParams,
    response: data(200, ThingSchema),
    handler: async ({ resource }) => resource,
  }),
  route({
    method: "PUT",
    path: "/things/{id}",
    id: "updateThing",
    audit: "thing.updated",
    tag: "Things",
    summary: "Update a thing",
    access: { kind: "resource", what: "thing", load: loadThing },
    params: thingParams,
    body: Type.Object({ size: Type.Integer(), loud: Type.Boolean({ default: true }) }),
    response: data(200, ThingSchema),
    handler: async ({ deps, resource, body }) => {
      deps.calls.push(body);
      return { ...resource, size: body.size };
    },
  }),
  route({
    method: "DELETE",
    path: "/things/{id}",
    id: "deleteThing",
    audit: "thing.deleted",
    tag: "Things",
    summary: "Delete a thing",
    access: { kind: "resource", what: "thing", load: loadThing },
    response: empty(),
    handler: async () => {},
  }),
  route({
    method: "DELETE",
    path: "/things/{id}/$errors/events",
    id: "deleteEvents",
    audit: null,
    tag: "Things",
    summary: "Delete its events",
    access: { kind: "resource", what: "thing", load: loadThing },
    query: Type.Object({ start_id: Type.Optional(Type.String()) }),
    response: accepted(),
    handler: async ({ deps, query }) => {
      deps.calls.push(query);
    },
  }),
  route({
    method: "GET",
    path: "/live",
    id: "live",
    tag: "Live",
    summary: "Say hello",
    access: { kind: "public" },
    response: stream("text/event-stream"),
    handler: async () => "data: hello\n\n",
  }),
  route({
    method: "POST",
    path: "/broken",
    id: "broken",
    audit: null,
    tag: "Broken",
    summary: "Fail",
    access: { kind: "owner" },
    response: empty(),
    handler: async () => {
      throw new Error("password=hunter2");
    },
  }),
  route({
    method: "GET",
    path: "/drifted",
    id: "drifted",
    tag: "Broken",
    summary: "Return a response that does not match its schema",
    access: { kind: "owner" },
    query: Type.Object({ how: Type.Optional(Type.String()) }),
    response: data(200, ThingSchema),
    handler: async ({ query, owner }) => {
      const thing = { id: "t_odd", owner, name: "odd", size: 1 };
      return (query.how === "type"
        ? { ...thing, size: "big" }
        : { ...thing, _id: "secret" }) as unknown as Thing;
    },
  }),
];

export const THINGS: Thing[] = [
  { id: "t_one", owner: "u_ann", name: "one", size: 1 },
  { id: "t_two", owner: "u_ann", name: "two", size: 2 },
  { id: "t_red", owner: "o_red", name: "red", size: null },
  { id: "t_bob", owner: "u_bob", name: "bob", size: 4 },
];

export interface DemoResponse {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: each test expects a different body
  json: any;
}

export interface DemoRequest {
  method?: string;
  path: string;
  key?: string | null;
  headers?: Record<string, string>;
  /** Sent as JSON unless it is a string or a buffer. */
  body?: unknown;
}

export interface DemoServer {
  deps: Deps;
  /** The parsed lines of the log. */
  lines: Record<string, unknown>[];
  send(request: DemoRequest): Promise<DemoResponse>;
  close(): Promise<void>;
}

const isRaw = (body: unknown): body is string | Buffer => typeof body === "string" || Buffer.isBuffer(body);

/** Uses node:http instead of fetch, because fetch normalizes paths and rejects unusual headers before sending them. */
function exchange(
  port: number,
  { method = "GET", path, key = "key-ann", headers, body }: DemoRequest,
): Promise<DemoResponse> {
  const bytes = body === undefined || isRaw(body) ? body : JSON.stringify(body);
  const all = {
    ...(key !== null && { authorization: `Bearer ${key}` }),
    ...(bytes !== undefined && {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(bytes),
    }),
    ...headers,
  };
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { host: "127.0.0.1", port, method, path, headers: all, agent: false },
      response => {
        const chunks: Buffer[] = [];
        response.on("error", reject);
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8");
          const isJson = /json/.test(response.headers["content-type"] ?? "") && text !== "";
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            json: isJson ? JSON.parse(text) : undefined,
          });
        });
      },
    );
    request.on("error", reject);
    request.end(bytes);
  });
}

/** Starts a real server on a free port with the demo routes under `/v1`; `above` is a middleware before the router. */
export async function startDemo(
  options: Partial<RouterOptions<Deps> & KeyGateOptions> & {
    routes?: AnyRoute<Deps>[];
    above?: Koa.Middleware;
  } = {},
): Promise<DemoServer> {
  const lines: Record<string, unknown>[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)));
      done();
    },
  });
  const deps: Deps = { things: THINGS, calls: [] };
  const { routes = demoRoutes, above, authenticate, clock, isKey, readSession, rateLimit, ...rest } = options;
  const gate = new KeyGate({
    authenticate:
      authenticate ?? (async key => (Object.hasOwn(CALLERS, key) ? (CALLERS[key] ?? null) : null)),
    clock: clock ?? Date.now,
    isKey: isKey ?? (() => true),
    readSession,
    rateLimit,
  });
  const app = new Koa();
  app.use(requestLog(pino({ base: null }, sink)));
  app.use(respondError());
  if (above) app.use(above);
  app.use(
    createRouter(routes, {
      deps,
      prefix: "/v1",
      gate,
      ...rest,
    }),
  );
  const server = createServer(app.callback());
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    deps,
    lines,
    send: request => exchange(port, request),
    close: () => new Promise(resolve => server.close(() => resolve())),
  };
}
