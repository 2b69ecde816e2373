import type { Context } from "koa";
import type { TSchema } from "typebox";
import { type FieldFilter, filterFields, responseFields } from "./fields.ts";
import { type PageResult, pageEnvelope } from "./pagination.ts";
import type { ResponseSpec } from "./response.ts";
import { compileCheck } from "./validate.ts";

/** Throws when an object of an response is not what the route declares. */
export type CheckResponse = (result: unknown) => void;

/** The objects that an response's schema describes, one by one. */
function objectsOf(response: ResponseSpec, result: unknown): unknown[] {
  if (response.kind === "list") return result as unknown[];
  if (response.kind === "page") return (result as PageResult<unknown>).rows;
  return [result];
}

/** For tests: what a client would see has to fit the declared schema, and to hold no field beyond it. */
export function compileResponseCheck(routeId: string, response: ResponseSpec): CheckResponse {
  const schema: TSchema | undefined = "schema" in response ? response.schema : undefined;
  if (!schema) return () => {};
  const check = compileCheck(schema, "body");
  const known = responseFields(response) ?? new Set();
  return result => {
    for (const object of objectsOf(response, result)) {
      const seen: unknown = JSON.parse(JSON.stringify(object ?? null));
      const wrong = check(seen).map(error => `${error.path} ${error.message}`);
      const extra = known.size > 0 ? Object.keys(seen ?? {}).filter(name => !known.has(name)) : [];
      const difference = [...wrong, ...extra.map(name => `${name} is not declared`)].join("; ");
      if (difference) throw new Error(`${routeId} answers otherwise than declared: ${difference}`);
    }
  };
}

/** An empty text, since Koa turns the status of a null body into 204; then without the type that Koa gives a text. */
function sendNothing(ctx: Context): void {
  ctx.body = "";
  ctx.type = "";
}

/** Writes a handler's result in its envelope (rest-api.md, "Response envelopes"), with the fields the caller wants. */
export function sendResponse(
  ctx: Context,
  response: ResponseSpec,
  result: unknown,
  filter: FieldFilter,
): void {
  const wanted = (value: unknown) => filterFields(value, filter);
  switch (response.kind) {
    case "data":
      ctx.body = { data: wanted(result) };
      return;
    case "list":
      ctx.body = { data: (result as unknown[]).map(wanted) };
      return;
    case "page": {
      const found = result as PageResult<unknown>;
      ctx.body = pageEnvelope({ ...found, rows: found.rows.map(wanted) }, response.cursor);
      return;
    }
    case "stream":
      ctx.body = result;
      ctx.type = response.contentType;
      return;
    case "accepted":
      if (response.schema) ctx.body = { data: wanted(result) };
      else sendNothing(ctx);
      return;
    case "empty":
      sendNothing(ctx);
  }
}
