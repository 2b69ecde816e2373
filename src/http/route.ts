import type { Readable } from "node:stream";
import type { Context } from "koa";
import type { Static, TObject, TSchema } from "typebox";
import type { ErrorCode } from "../lib/errors.ts";
import type { KeyAccess } from "../lib/key-access.ts";
import type { Logger } from "../lib/logger.ts";
import type { Role } from "../lib/roles.ts";
import type { Page, PageRequest } from "../store/page.ts";
import type { ChangeNote } from "./changes.ts";
import type { CursorCodec } from "./common-parameters.ts";

/** The API key of a request: how people recognize it, and what it may do of what its user may. */
export interface CallerKey {
  name: string | null;
  prefix: string | null;
  access: KeyAccess;
  /** The sources and workflows that it may publish to; null for all. */
  emitterIds: readonly string[] | null;
}

/** The user that an API key or a session belongs to. */
export interface Caller {
  userId: string;
  /** Id of the key or of the session: whatever the request was authenticated with. */
  keyId: string;
  /** Absent for an API key. */
  sessionId?: string;
  /** What the session began with; absent for an API key. */
  signedInWith?: "api_key" | "openid";
  /** The API key; absent for a session. */
  key?: CallerKey;
  /** When the credential ends, in Unix milliseconds; absent if nothing but a revocation or a lack of use ends it. */
  endsAtMs?: number;
  /** Organizations that the user is a member of. */
  orgIds: string[];
  /** The user's role in each of them. */
  roles: Readonly<Record<string, Role>>;
}

/** Who may call a route and what it acts on (docs/rest-api.md#organizations, docs/design.md#guarantee-6). */
export type Access<Deps, Resource> =
  /** Needs no API key, such as the OpenAPI document. */
  | { kind: "public" }
  /** Acts on the caller itself, such as `/users/me`. */
  | { kind: "caller" }
  /** Acts on all accounts: for operators, whom `check` knows; it throws `forbidden` for any other user. */
  | { kind: "operator"; check: (deps: Deps, userId: string) => Promise<void> }
  /** Acts in the organization `org_id` if it is given, otherwise in the account of the caller. */
  | { kind: "owner" }
  /** Acts in the organization that the path names as `{org_id}`; for anybody but its members it does not exist. */
  | { kind: "member" }
  /**
   * Acts on the resource that the path names, by `{id}` unless `param` names another parameter. `load` returns null if
   * none of `owners` owns it, and throws none but `errors`. `what` is the kind of resource for messages.
   */
  | {
      kind: "resource";
      what: string;
      param?: string;
      errors?: readonly ErrorCode[];
      /** True if its changes are counted (`store/revisions.ts`): then PUT and DELETE heed `If-Match`. */
      isRevised?: boolean;
      load: (deps: Deps, id: string, owners: string[]) => Promise<Resource | null>;
    };

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Names of the parameters of a path: `{name}`. */
type ParamName<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamName<Rest>
  : never;
export type PathParams<Path extends string> = { [Name in ParamName<Path>]: string };

// biome-ignore lint/complexity/noBannedTypes: the schema of an object without properties
export type NoFields = TObject<{}>;

export interface RouteRequest<Deps, Params, Query, Body, Resource> {
  deps: Deps;
  params: Params;
  query: Query;
  body: Body;
  /** The JSON that `body` was parsed from; "" without a body. */
  bodyText: string;
  /** Reading it throws on a public route. */
  caller: Caller;
  /** The account that the request acts for: the organization of the path or of `org_id`, otherwise the user. */
  owner: string;
  /** The accounts whose resources it may access: that organization, otherwise the user and all its organizations. */
  owners: string[];
  resource: Resource;
  /**
   * False in an organization that the caller only views, and for a key that may not do everything: what lets a stranger in or act
   * there is not shown then.
   */
  seesSecrets: (ownerId: string) => boolean;
  /** The requested page, if the response is paginated. */
  page: PageRequest;
  /**
   * Says what the request changes, for its entry of the audit log, where neither path nor response does; null: nothing. By
   * itself, that is the resource of the path, or what the response shows.
   */
  changes: (note: ChangeNote | null) => void;
  ctx: Context;
  requestId: string;
  log: Logger;
}

/**
 * What the audit log calls a request that succeeded (docs/rest-api.md#audit-log), such as `webhook.updated`: the kind of thing and
 * what happened to it. Null for a route that changes nothing that is kept, and for events on their way, which are too many.
 */
type Audit = `${string}.${string}` | null;

/** Every route that may change something says what the audit log calls it: none is left out because it was forgotten. */
type Audited = { method: "GET"; audit?: null } | { method: Exclude<Method, "GET">; audit: Audit };

interface RouteDescription<Path extends string, Spec extends ResponseSpec> {
  method: Method;
  /** Such as `/sources/{id}/events`, without prefix and trailing slash (it is served with and without the slash). */
  path: Path;
  /** The OpenAPI operation id; unique. */
  id: string;
  audit?: Audit;
  tag: string;
  summary: string;
  /** Markdown. */
  description?: string;
  /**
   * The role that it needs in an organization, if it is not the usual one: reading is for viewers, and what changes or runs
   * something for members.
   */
  role?: Role;
  /**
   * What it needs of an API key, if it is not the usual one: `read` to read, and `full` for all else. With `publish`, the path names
   * the emitter, to whose id keys may be bound.
   */
  keyAccess?: "read" | "publish";
  response: Spec;
  /** Another status of success with the same body, which the handler sets on `ctx`. */
  alsoStatus?: number;
  /** Body fields of which at least one must be given; the handler checks it. */
  requiresOneOf?: readonly string[];
  /** True for a POST that changes its resource as a PUT does, whose changes are counted. */
  heedsIfMatch?: true;
  /** Largest body in bytes, if it is larger than that of other routes. */
  maxBodyBytes?: number;
  /**
   * For a route whose own bounds hold what an account may send: its requests are not counted against the limit of the key.
   * `advice`: what a caller that is rejected all the same can do.
   */
  ownBounds?: { advice: string };
  /** Operations that take the id of the response's object, by id, with the parameter that takes it. */
  links?: Readonly<Record<string, string>>;
  /** Errors of this route besides those that any route may have (400, 401, 404, 413, 415, 429, 5xx). */
  errors?: readonly ErrorCode[];
}

/** One route; its checks, types, authorization and OpenAPI operation are all derived from this declaration. */
export interface RouteSpec<
  Deps,
  Path extends string,
  Params extends TObject,
  Query extends TObject,
  Body extends TObject,
  Spec extends ResponseSpec,
  Resource,
> extends RouteDescription<Path, Spec> {
  access: Access<Deps, Resource>;
  /** Describes or narrows the path's parameters, which are strings otherwise; a value that does not match is a 404. */
  params?: Params;
  /** Query parameters; they may also be given in a JSON body, and the query string wins. */
  query?: Query;
  body?: Body;
  example?: {
    params?: PathParams<Path>;
    query?: Partial<Static<Query>>;
    body?: Static<Body>;
    /** One object of the response, without its envelope. */
    response?: unknown;
  };
  handler: (
    request: RouteRequest<Deps, PathParams<Path> & Static<Params>, Static<Query>, Static<Body>, Resource>,
  ) => Promise<ResponseResult<Spec>>;
}

/** The request of a route whose schema types have been erased. */
export type AnyRequest<Deps> = RouteRequest<Deps, Record<string, string>, unknown, unknown, unknown>;

/**
 * A route with its schema types erased, for the router and the OpenAPI document. `AnyRoute<Platform>[]` is a list of
 * routes with different dependencies. `AnyRoute` without a parameter is any route, for code that calls no handler.
 */
export interface AnyRoute<Deps = never> extends RouteDescription<string, ResponseSpec> {
  access: Access<Deps, unknown>;
  params?: TObject;
  query?: TObject;
  body?: TObject;
  example?: { params?: object; query?: object; body?: unknown; response?: unknown };
  handler: (request: AnyRequest<Deps>) => Promise<unknown>;
}

/**
 * Returns a function that declares routes whose handlers receive these dependencies:
 * `const route = routeFor<Stores>()`.
 */
export function routeFor<Deps>() {
  return <
    const Path extends string,
    Spec extends ResponseSpec,
    Params extends TObject = NoFields,
    Query extends TObject = NoFields,
    Body extends TObject = NoFields,
    Resource = undefined,
  >(
    spec: RouteSpec<Deps, Path, Params, Query, Body, Spec, Resource> & Audited,
    // The router passes each handler only input that the route's own schemas have checked, so erasing types is sound.
  ): AnyRoute<Deps> => spec as unknown as AnyRoute<Deps>;
}

/** `{data: <object>}` (docs/rest-api.md#resources). */
export interface DataResponse<Schema extends TSchema = TSchema> {
  kind: "data";
  status: number;
  schema: Schema;
}

/**
 * `{data: [<object>, …]}`: the whole list. A request with `limit`, `after` or `before` receives a page of it instead, with
 * `page_info`.
 */
export interface ListResponse<Schema extends TSchema = TSchema> {
  kind: "list";
  status: number;
  schema: Schema;
}

export interface PageOptions {
  /** Converts row ids to cursors; base64url by default. */
  cursor?: CursorCodec;
  /** Page size if the request has no `limit`; 10 by default. */
  defaultLimit?: number;
}

/** `{page_info, data: [<object>, …]}`; the route accepts `limit`, `after` and `before`. */
export interface PageResponse<Schema extends TSchema = TSchema> extends PageOptions {
  kind: "page";
  status: number;
  schema: Schema;
}

/** No body. */
export interface EmptyResponse {
  kind: "empty";
  status: number;
}

/** A request that was accepted and is not done yet: no body, or `{data}` if there is a schema. */
export interface AcceptedResponse<Schema extends TSchema | undefined = TSchema | undefined> {
  kind: "accepted";
  status: number;
  schema: Schema;
}

/** A body without an envelope: server-sent events, a file. */
export interface StreamResponse {
  kind: "stream";
  status: number;
  contentType: string;
}

export type ResponseSpec =
  | DataResponse
  | ListResponse
  | PageResponse
  | EmptyResponse
  | AcceptedResponse
  | StreamResponse;

// biome-ignore lint/suspicious/noConfusingVoidType: lets a handler end with a call that returns nothing
type Nothing = void;

/** The return type of the handler of a route with this response. */
export type ResponseResult<Spec> =
  Spec extends DataResponse<infer S>
    ? Static<S>
    : Spec extends ListResponse<infer S>
      ? Page<Static<S>>
      : Spec extends PageResponse<infer S>
        ? Page<Static<S>>
        : Spec extends AcceptedResponse<infer S>
          ? S extends TSchema
            ? Static<S>
            : Nothing
          : Spec extends StreamResponse
            ? Readable | Buffer | string
            : Nothing;

export function data<Schema extends TSchema>(status: number, schema: Schema): DataResponse<Schema> {
  return { kind: "data", status, schema };
}

export function list<Schema extends TSchema>(status: number, schema: Schema): ListResponse<Schema> {
  return { kind: "list", status, schema };
}

export function page<Schema extends TSchema>(
  status: number,
  schema: Schema,
  options: PageOptions = {},
): PageResponse<Schema> {
  return { kind: "page", status, schema, ...options };
}

export function empty(status = 204): EmptyResponse {
  return { kind: "empty", status };
}

export function accepted(status?: number): AcceptedResponse<undefined>;
export function accepted<Schema extends TSchema>(status: number, schema: Schema): AcceptedResponse<Schema>;
export function accepted(status = 202, schema?: TSchema): AcceptedResponse {
  return { kind: "accepted", status, schema };
}

export function stream(contentType: string): StreamResponse {
  return { kind: "stream", status: 200, contentType };
}
