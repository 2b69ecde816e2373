import type { Context } from "koa";
import type { Static, TObject } from "typebox";
import type { ErrorCode } from "../lib/errors.ts";
import type { Logger } from "../lib/logger.ts";
import type { PageRequest } from "./pagination.ts";
import type { ResponseResult, ResponseSpec } from "./response.ts";

/** Who an API key belongs to. */
export interface Caller {
  userId: string;
  keyId: string;
  /** Organizations the user is a member of. */
  orgIds: string[];
}

/** Who may call a route and what it acts on (rest-api.md section 4.1, "Organization rules"; design.md, guarantee 6). */
export type Access<Deps, Resource> =
  /** No key: the description and its page. */
  | { kind: "public" }
  /** Acts on the caller itself: `/users/me…`. */
  | { kind: "caller" }
  /** Acts in `org_id` when given, else for the caller. */
  | { kind: "owner" }
  /** The path names `{org_id}`; to others than its members it is absent. */
  | { kind: "member" }
  /** The path names a thing, by `{id}` unless `param` tells another; `load` gives null when no owner of `owners` has it. */
  | {
      kind: "resource";
      what: string;
      param?: string;
      load: (deps: Deps, id: string, owners: string[]) => Promise<Resource | null>;
    };

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** `{name}`s of a path. */
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
  /** Throws on a public route. */
  caller: Caller;
  /** For whom the request acts: the organization of the path or of `org_id`, else the caller's user. */
  owner: string;
  /** Whose things it may touch: that organization only, else the user and all its organizations. */
  owners: string[];
  resource: Resource;
  /** Of a route with a paginated response; the default page otherwise. */
  page: PageRequest;
  ctx: Context;
  requestId: string;
  log: Logger;
}

interface RouteDescription<Path extends string, A extends ResponseSpec> {
  method: Method;
  /** Such as `/sources/{id}/events`, without the prefix and without a trailing slash (both forms are served). */
  path: Path;
  /** The OpenAPI operation id; unique. */
  id: string;
  tag: string;
  summary: string;
  /** Markdown. */
  description?: string;
  response: A;
  /** What it may response beyond what every route may (400, 401, 404 where the access rule says so, 413, 415, 429, 5xx). */
  errors?: readonly ErrorCode[];
}

/** One route: the router, the checks, the types, the authorization and its OpenAPI operation all come from this. */
export interface RouteSpec<
  Deps,
  Path extends string,
  Params extends TObject,
  Query extends TObject,
  Body extends TObject,
  A extends ResponseSpec,
  Resource,
> extends RouteDescription<Path, A> {
  access: Access<Deps, Resource>;
  /** Describes or narrows the path's parameters, which are texts without it; a value that does not fit answers 404. */
  params?: Params;
  /** Also taken from a JSON body, where the query string wins. */
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
  ) => Promise<ResponseResult<A>>;
}

/** The request of a route whose schemas are not known by type any more. */
export type AnyRequest<Deps> = RouteRequest<Deps, Record<string, string>, unknown, unknown, unknown>;

/**
 * A route as the router and the description see it. A list that needs several dependencies is an
 * `AnyRoute<Platform>[]`; `AnyRoute` alone fits every route, for code that calls no handler.
 */
export interface AnyRoute<Deps = never> extends RouteDescription<string, ResponseSpec> {
  access: Access<Deps, unknown>;
  params?: TObject;
  query?: TObject;
  body?: TObject;
  example?: { params?: object; query?: object; body?: unknown; response?: unknown };
  handler: (request: AnyRequest<Deps>) => Promise<unknown>;
}

/** `const route = routeFor<Pick<Platform, "mongo">>()`: declares routes whose handlers are given these dependencies. */
export function routeFor<Deps>() {
  return <
    const Path extends string,
    A extends ResponseSpec,
    Params extends TObject = NoFields,
    Query extends TObject = NoFields,
    Body extends TObject = NoFields,
    Resource = undefined,
  >(
    spec: RouteSpec<Deps, Path, Params, Query, Body, A, Resource>,
    // The router hands each handler what its own schemas have checked, so the erased form is sound.
  ): AnyRoute<Deps> => spec as unknown as AnyRoute<Deps>;
}
