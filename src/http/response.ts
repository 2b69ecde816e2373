import type { Readable } from "node:stream";
import type { Static, TSchema } from "typebox";
import type { Page } from "../store/page.ts";
import type { CursorCodec } from "./common-parameters.ts";

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

export function stream(contentType: string, status = 200): StreamResponse {
  return { kind: "stream", status, contentType };
}
