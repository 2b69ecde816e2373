import type { Context } from "koa";
import type { TSchema } from "typebox";
import type { Answer } from "./answer.ts";
import { answerFields, type FieldFilter, filterFields } from "./fields.ts";
import { type PageResult, pageEnvelope } from "./pagination.ts";
import { compileCheck } from "./validate.ts";

/** Throws when an object of an answer is not what the route declares. */
export type CheckAnswer = (result: unknown) => void;

/** The objects that an answer's schema describes, one by one. */
function objectsOf(answer: Answer, result: unknown): unknown[] {
  if (answer.kind === "list") return result as unknown[];
  if (answer.kind === "page") return (result as PageResult<unknown>).rows;
  return [result];
}

/** For tests: what a client would see has to fit the declared schema, and to hold no field beyond it. */
export function compileAnswerCheck(routeId: string, answer: Answer): CheckAnswer {
  const schema: TSchema | undefined = "schema" in answer ? answer.schema : undefined;
  if (!schema) return () => {};
  const check = compileCheck(schema, "body");
  const known = answerFields(answer) ?? new Set();
  return result => {
    for (const object of objectsOf(answer, result)) {
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
export function sendAnswer(ctx: Context, answer: Answer, result: unknown, filter: FieldFilter): void {
  const wanted = (value: unknown) => filterFields(value, filter);
  switch (answer.kind) {
    case "data":
      ctx.body = { data: wanted(result) };
      return;
    case "list":
      ctx.body = { data: (result as unknown[]).map(wanted) };
      return;
    case "page": {
      const found = result as PageResult<unknown>;
      ctx.body = pageEnvelope({ ...found, rows: found.rows.map(wanted) }, answer.cursor);
      return;
    }
    case "stream":
      ctx.body = result;
      ctx.type = answer.contentType;
      return;
    case "accepted":
      if (answer.schema) ctx.body = { data: wanted(result) };
      else sendNothing(ctx);
      return;
    case "empty":
      sendNothing(ctx);
  }
}
