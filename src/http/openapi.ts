import type { TSchema } from "typebox";
import type { ErrorCode } from "../lib/errors.ts";
import { keyAccessFor, roleFor } from "./authorize.ts";
import { isPaged, queryParametersOf } from "./common-parameters.ts";
import { checkExamples } from "./examples.ts";
import {
  collectSchemas,
  FIXED_HEADERS,
  FIXED_SCHEMAS,
  type Json,
  problemResponses,
  type SchemaCollection,
  successHeaders,
} from "./openapi-components.ts";
import { INTRODUCTION, WEBHOOKS } from "./openapi-fixed.ts";
import { heedsIfMatch, sendsEtag } from "./preconditions.ts";
import { PROBLEMS } from "./problem.ts";
import type { AnyRoute, ResponseSpec } from "./route.ts";

const STATUS_TEXT: Record<number, string> = {
  200: "Success.",
  201: "Created.",
  202: "Accepted; the work is done after the response.",
  204: "Success; the response has no body.",
};

const hasBody = (route: AnyRoute) => route.method !== "GET";

/** A key is kept for its caller, whom a public route does not know. */
const takesIdempotencyKey = ({ method, access }: AnyRoute): boolean =>
  method === "POST" && access.kind !== "public";

/** Returns the errors that a route may respond with: those of every route, and its own. */
function errorCodes(route: AnyRoute): (keyof typeof PROBLEMS)[] {
  const withKey: ErrorCode[] =
    route.access.kind === "public"
      ? []
      : ["unauthenticated", "forbidden", "not-found", "rate-limited", "unavailable"];
  const withBody: ErrorCode[] = hasBody(route) ? ["too-large", "unsupported-media-type"] : [];
  // The same `Idempotency-Key` with a different request.
  const withIdempotencyKey: ErrorCode[] = takesIdempotencyKey(route) ? ["conflict"] : [];
  const withIfMatch: ErrorCode[] = heedsIfMatch(route) ? ["precondition-failed"] : [];
  const ofResource = route.access.kind === "resource" ? (route.access.errors ?? []) : [];
  const specific = [
    ...withKey,
    ...withBody,
    ...withIdempotencyKey,
    ...withIfMatch,
    ...ofResource,
    ...(route.errors ?? []),
  ];
  return [...new Set(["invalid", ...specific, "headers-too-large", "too-slow", "internal"] as const)];
}

/** Returns a response body in its envelope, as a schema or as an example. */
function envelope(
  response: ResponseSpec,
  object: unknown,
  list: (item: unknown) => unknown,
  info: unknown,
): Json {
  if (response.kind === "data" || response.kind === "accepted") return { data: object };
  return isPaged(response) ? { page_info: info, data: list(object) } : { data: list(object) };
}

function responseContent(route: AnyRoute, collection: SchemaCollection): Json {
  const { response, example } = route;
  if (response.kind === "stream") {
    const { contentType } = response;
    // A schema would be that of each event, which is an object of its name, id and data.
    if (contentType === "text/event-stream") {
      return {
        content: { [contentType]: { ...(example?.response !== undefined && { example: example.response }) } },
      };
    }
    const type = contentType.includes("json") ? "object" : "string";
    const shown = example?.response !== undefined && { example: example.response };
    return { content: { [contentType]: { schema: { type }, ...shown } } };
  }
  const schema: TSchema | undefined = "schema" in response ? response.schema : undefined;
  if (!schema) return {};
  const info = { $ref: "#/components/schemas/PageInfo" };
  const properties = envelope(response, collection.use(schema), items => ({ type: "array", items }), info);
  const required = Object.keys(properties).filter(name => response.kind !== "list" || name !== "page_info");
  const page = { total_count: 1, count: 1, start_cursor: "ZGNfMQ", end_cursor: "ZGNfMQ" };
  return {
    content: {
      "application/json": {
        schema: { type: "object", required, properties },
        ...(example?.response !== undefined && {
          example: envelope(response, example.response, item => [item], page),
        }),
      },
    },
  };
}

/** True for query parameters that the document also shows as fields of the body. */
const isAlsoInBody = ({ method }: AnyRoute, location: "path" | "query"): boolean =>
  location === "query" && (method === "POST" || method === "PUT");

/** A parameter that is required in one of two places can't be marked as required in either. */
function describe(
  route: AnyRoute,
  location: "path" | "query",
  { description, required }: { description: unknown; required: boolean },
): Json {
  const place = required && isAlsoInBody(route, location) ? "Required, here or in the body." : "";
  const text = [description, place].filter(Boolean).join(" ");
  return text === "" ? {} : { description: text };
}

function parametersOf(route: AnyRoute, collection: SchemaCollection): Json[] {
  const examples = { ...route.example?.params, ...route.example?.query } as Json;
  const parameter = (location: "path" | "query", name: string, schema: unknown, required: boolean) => {
    const { description, ...rest } = collection.use(schema) as Json;
    const example = examples[name];
    return {
      name,
      in: location,
      required: required && !isAlsoInBody(route, location),
      ...describe(route, location, { description, required }),
      schema: rest,
      ...(example !== undefined && { example }),
    };
  };
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(match => match[1] ?? "");
  const query = queryParametersOf(route);
  const required = new Set<string>(query.required ?? []);
  return [
    ...names.map(name => parameter("path", name, route.params?.properties[name] ?? { type: "string" }, true)),
    ...Object.entries(query.properties).map(([name, schema]) =>
      parameter("query", name, schema, required.has(name)),
    ),
    ...(takesIdempotencyKey(route) ? [{ $ref: "#/components/parameters/IdempotencyKey" }] : []),
    ...(heedsIfMatch(route) ? [{ $ref: "#/components/parameters/IfMatch" }] : []),
  ];
}

/** Returns the body with its own fields and the query parameters that may be given in it. */
function requestBodyOf(route: AnyRoute, collection: SchemaCollection): Json {
  if (!isAlsoInBody(route, "query")) return {};
  const { properties: parameters } = queryParametersOf(route);
  const { properties: fields = {}, required = [] } = route.body ?? {};
  const oneOf = route.requiresOneOf?.map(name => ({ required: [name] }));
  const schema = collection.use({
    type: "object",
    ...(required.length > 0 && { required }),
    properties: { ...fields, ...parameters },
    ...(oneOf && { anyOf: oneOf }),
  });
  const isRequired = required.length > 0 || oneOf !== undefined;
  const example = route.example?.body ?? (isRequired ? undefined : {});
  const content = { schema, ...(example !== undefined && { example }) };
  return { requestBody: { required: isRequired, content: { "application/json": content } } };
}

/** Returns the operations that a client can go on with, with the parameters that it knows from the response. */
function linksOf(route: AnyRoute, routes: readonly AnyRoute[]): Json {
  const { response } = route;
  const name = response.kind === "data" ? String((response.schema as { title?: string }).title ?? "") : "";
  if (name === "" || route.method === "PUT") return {};
  const what = name.replace(/(WithKey|Detail|WithAttempts)$/, "").toLowerCase();
  const id = "$response.body#/data/id";
  const toResource = routes
    .filter(({ id, access }) => id !== route.id && access.kind === "resource" && access.what === what)
    .filter(({ path }) => path.includes("{id}"))
    .map(other => [other.id, { operationId: other.id, parameters: { id } }]);
  const toOthers = Object.entries(route.links ?? {}).map(([operationId, parameter]) => [
    operationId,
    { operationId, parameters: { [parameter]: id } },
  ]);
  const links = Object.fromEntries([...toResource, ...toOthers]);
  return Object.keys(links).length > 0 ? { links } : {};
}

function responsesOf(route: AnyRoute, collection: SchemaCollection, routes: readonly AnyRoute[]): Json {
  const statuses = [route.response.status, ...(route.alsoStatus ? [route.alsoStatus] : [])];
  const success = (status: number) => [
    String(status),
    {
      description: STATUS_TEXT[status] ?? "Success.",
      headers: successHeaders({ isPublic: route.access.kind === "public", hasEtag: sendsEtag(route) }),
      ...responseContent(route, collection),
      ...linksOf(route, routes),
    },
  ];
  const problems = errorCodes(route).map(code => [
    String(PROBLEMS[code].status),
    { $ref: `#/components/responses/${code}` },
  ]);
  return Object.fromEntries([...statuses.map(success), ...problems]);
}

/** What the caller must be, where it matters: a reader of the document finds it without trying. */
function roleOfOperation(route: AnyRoute): Json {
  if (route.access.kind === "operator") return { "x-role": "operator" };
  return roleFor(route) === "viewer" ? {} : { "x-role": roleFor(route) };
}

/** What an API key must be made for: one that reads can't publish, and the other way around. */
const accessOfOperation = (route: AnyRoute): Json =>
  route.access.kind === "public" ? {} : { "x-key-access": keyAccessFor(route) };

function operationOf(route: AnyRoute, collection: SchemaCollection, routes: readonly AnyRoute[]): Json {
  return {
    operationId: route.id,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description && { description: route.description }),
    ...(route.access.kind === "public" && { security: [] }),
    ...roleOfOperation(route),
    ...accessOfOperation(route),
    parameters: parametersOf(route, collection),
    ...requestBodyOf(route, collection),
    responses: responsesOf(route, collection, routes),
  };
}

/** Returns the components that something refers to: another one would only be in a generator's way. */
function used(kind: "responses" | "headers", components: Json, by: Json): Json {
  const text = JSON.stringify(by);
  const isUsed = ([name]: [string, unknown]) => text.includes(`"#/components/${kind}/${name}"`);
  return Object.fromEntries(Object.entries(components).filter(isUsed));
}

/**
 * Returns the OpenAPI 3.1 document of the routes, in their order. `serverUrl` ends in the version segment and may be
 * relative. Throws for a mistake in the routes: two schemas with the same name, or an example that does not match its
 * schema.
 */
export function openapiDocument(
  routes: readonly AnyRoute[],
  options: { version: string; serverUrl: string },
): Json {
  const collection = collectSchemas();
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    checkExamples(route);
    const item = paths[route.path] ?? {};
    item[route.method.toLowerCase()] = operationOf(route, collection, routes);
    paths[route.path] = item;
  }
  const responses = used("responses", problemResponses(), paths);
  return {
    openapi: "3.1.0",
    info: {
      title: "Headwater",
      version: options.version,
      description: INTRODUCTION,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: options.serverUrl }],
    security: [{ bearerKey: [] }, { sessionCookie: [] }],
    tags: [...new Set(routes.map(route => route.tag))].map(name => ({ name })),
    paths,
    webhooks: WEBHOOKS,
    components: {
      schemas: { ...FIXED_SCHEMAS, ...collection.schemas },
      headers: used("headers", FIXED_HEADERS, { paths, responses }),
      parameters: {
        IdempotencyKey: {
          name: "Idempotency-Key",
          in: "header",
          description:
            "Makes a retry safe: within 12 hours, the same request with the same key receives the first response.",
          schema: { type: "string", maxLength: 255 },
        },
        IfMatch: {
          name: "If-Match",
          in: "header",
          description:
            "The `ETag` of an earlier response: nothing is changed unless the resource is still at that revision.",
          schema: { type: "string" },
          example: '"3"',
        },
      },
      responses,
      // Names that no schema has, in any case: generators of clients make types of both.
      securitySchemes: {
        bearerKey: { type: "http", scheme: "bearer", description: "An API key." },
        sessionCookie: {
          type: "apiKey",
          in: "cookie",
          name: "__Host-headwater",
          description:
            "A browser's session, from `POST /sessions`. Changes are accepted from the server's own pages only.",
        },
      },
    },
  };
}
