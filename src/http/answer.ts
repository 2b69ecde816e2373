import type { Readable } from "node:stream";
import type { Static, TSchema } from "typebox";
import type { CursorCodec, PageResult } from "./pagination.ts";

/** `{data: <object>}` (rest-api.md, "Response envelopes"). */
export interface DataAnswer<Schema extends TSchema = TSchema> {
  kind: "data";
  status: number;
  schema: Schema;
}

/** `{data: [<object>, …]}`. */
export interface ListAnswer<Schema extends TSchema = TSchema> {
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
export interface PageAnswer<Schema extends TSchema = TSchema> extends PageOptions {
  kind: "page";
  status: number;
  schema: Schema;
}

/** No body at all. */
export interface EmptyAnswer {
  kind: "empty";
  status: number;
}

/** A request taken on and not done yet: an empty body, or `{data}` when there is something to say. */
export interface AcceptedAnswer<Schema extends TSchema | undefined = TSchema | undefined> {
  kind: "accepted";
  status: number;
  schema: Schema;
}

/** A body that is no envelope: server-sent events, a file. */
export interface StreamAnswer {
  kind: "stream";
  status: number;
  contentType: string;
}

export type Answer = DataAnswer | ListAnswer | PageAnswer | EmptyAnswer | AcceptedAnswer | StreamAnswer;

// biome-ignore lint/suspicious/noConfusingVoidType: so that a handler may end in a call that returns nothing
type Nothing = void;

/** What the handler of a route with this answer returns. */
export type AnswerResult<A> =
  A extends DataAnswer<infer S>
    ? Static<S>
    : A extends ListAnswer<infer S>
      ? Static<S>[]
      : A extends PageAnswer<infer S>
        ? PageResult<Static<S>>
        : A extends AcceptedAnswer<infer S>
          ? S extends TSchema
            ? Static<S>
            : Nothing
          : A extends StreamAnswer
            ? Readable | Buffer | string
            : Nothing;

export function data<Schema extends TSchema>(status: number, schema: Schema): DataAnswer<Schema> {
  return { kind: "data", status, schema };
}

export function list<Schema extends TSchema>(status: number, schema: Schema): ListAnswer<Schema> {
  return { kind: "list", status, schema };
}

export function page<Schema extends TSchema>(
  status: number,
  schema: Schema,
  options: PageOptions = {},
): PageAnswer<Schema> {
  return { kind: "page", status, schema, ...options };
}

export function empty(status = 204): EmptyAnswer {
  return { kind: "empty", status };
}

export function accepted(status?: number): AcceptedAnswer<undefined>;
export function accepted<Schema extends TSchema>(status: number, schema: Schema): AcceptedAnswer<Schema>;
export function accepted(status = 202, schema?: TSchema): AcceptedAnswer {
  return { kind: "accepted", status, schema };
}

export function stream(contentType: string, status = 200): StreamAnswer {
  return { kind: "stream", status, contentType };
}
