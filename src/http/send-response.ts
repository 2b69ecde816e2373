import type { Context } from "koa";
import type { TSchema } from "typebox";
import { stringifyJson } from "../lib/json-text.ts";
import { mapPage, type Page, type PageRequest, WHOLE_LIST } from "../store/page.ts";
import {
  type FieldFilter,
  filterFields,
  isPaged,
  pageEnvelope,
  responseFields,
} from "./common-parameters.ts";
import type { ResponseSpec } from "./route.ts";
import { type Check, compileCheck } from "./validate.ts";

/** Throws if an object of a response does not match the declared schema. */
export type CheckResponse = (result: unknown) => void;

/** Returns the objects of a response that its schema describes. */
function objectsOf(response: ResponseSpec, result: unknown): unknown[] {
  if (isPaged(response)) return (result as Page<unknown>).rows;
  return [result];
}

/** Of each response, at its first use and once in a process: tests start many systems in one, and each uses a few routes. */
const compiled = new WeakMap<ResponseSpec, Check>();

function checkOf(response: ResponseSpec, schema: TSchema): Check {
  const check = compiled.get(response) ?? compileCheck(schema, "body");
  compiled.set(response, check);
  return check;
}

/** For tests: returns a check that a response matches its declared schema and has no other fields. */
export function responseCheck(routeId: string, response: ResponseSpec): CheckResponse {
  const schema: TSchema | undefined = "schema" in response ? response.schema : undefined;
  if (!schema) return () => {};
  const known = responseFields(response) ?? new Set();
  return result => {
    const check = checkOf(response, schema);
    for (const object of objectsOf(response, result)) {
      const sent: unknown = JSON.parse(JSON.stringify(object ?? null));
      const errors = check(sent).map(error => `${error.path} ${error.message}`);
      const extra = known.size > 0 ? Object.keys(sent ?? {}).filter(name => !known.has(name)) : [];
      const difference = [...errors, ...extra.map(name => `${name} is not declared`)].join("; ");
      if (difference) throw new Error(`the response of ${routeId} does not match its schema: ${difference}`);
    }
  };
}

/** Sends an empty string, because Koa turns a null body into a 204; removes the content type that Koa then sets. */
function sendEmptyBody(ctx: Context): void {
  ctx.body = "";
  ctx.type = "";
}

/** Sends events in it as they were written, which Koa's own JSON does not. */
function sendJson(ctx: Context, value: object): void {
  ctx.body = stringifyJson(value);
  ctx.type = "json";
}

/** What was asked of a response: which fields, and which page. */
interface Selected {
  filter: FieldFilter;
  page: PageRequest;
}

/**
 * Returns a handler's result in its envelope (docs/rest-api.md#resources), with the fields that `filter` selects; null for a
 * response that has none.
 */
export function envelopeOf(
  response: ResponseSpec,
  result: unknown,
  { filter, page: requested }: Selected,
): object | null {
  const filtered = (value: unknown) => filterFields(value, filter);
  switch (response.kind) {
    case "data":
      return { data: filtered(result) };
    case "accepted":
      return response.schema ? { data: filtered(result) } : null;
    case "list":
    case "page": {
      const page = mapPage(result as Page<unknown>, filtered);
      const cursor = response.kind === "page" ? response.cursor : undefined;
      return requested === WHOLE_LIST ? { data: page.rows } : pageEnvelope(page, cursor);
    }
    case "stream":
    case "empty":
      return null;
  }
}

/** Sends a handler's result: as a stream, in its envelope, or nothing. */
export function sendResponse(
  ctx: Context,
  response: ResponseSpec,
  result: unknown,
  selected: Selected,
): void {
  if (response.kind === "stream") {
    ctx.body = result;
    ctx.type = response.contentType;
    return;
  }
  const envelope = envelopeOf(response, result, selected);
  if (envelope === null) sendEmptyBody(ctx);
  else sendJson(ctx, envelope);
}
