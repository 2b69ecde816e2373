import type { Readable } from "node:stream";
import type { Static, TSchema } from "typebox";
import type { CursorCodec, PageResult } from "./pagination.ts";

/** `{data: <object>}` (rest-api.md, "Response envelopes"). */
export interface DataResponse<Schema extends TSchema = TSchema> {
  kind: "data";
  status: number;
  schema: Schema;
}

/** `{data: [<object>, …]}`. */
export interface ListResponse<Schema extends TSchema = TSchema> {
  kind: "list";
  status: number;
  schema: Schema;
}

export interface PageOptions {
  /** How a row's id is written as a cursor; base64url of the id unless told. */
  cursor?: CursorCodec;
  /** Page size when the request names none; 10 unless told. */
  defaultLimit?: number;
}

/** `{page_info, data: [<object>, …]}`; the route takes `limit`, `after` and `before`. */
export interface PageResponse<Schema extends TSchema = TSchema> extends PageOptions {
  kind: "page";
  status: number;
  schema: Schema;
}

/** No body at all. */
export interface EmptyResponse {
  kind: "empty";
  status: number;
}

/** A request taken on and not done yet: an empty body, or `{data}` when there is something to say. */
export interface AcceptedResponse<Schema extends TSchema | undefined = TSchema | undefined> {
  kind: "accepted";
  status: number;
  schema: Schema;
}

/** A body that is no envelope: server-sent events, a file. */
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

// biome-ignore lint/suspicious/noConfusingVoidType: so that a handler may end in a call that returns nothing
type Nothing = void;

/** What the handler of a route with this response returns. */
export type ResponseResult<A> =
  A extends DataResponse<infer S>
    ? Static<S>
    : A extends ListResponse<infer S>
      ? Static<S>[]
      : A extends PageResponse<infer S>
        ? PageResult<Static<S>>
        : A extends AcceptedResponse<infer S>
          ? S extends TSchema
            ? Static<S>
            : Nothing
          : A extends StreamResponse
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
