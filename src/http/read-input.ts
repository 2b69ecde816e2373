import type { Context } from "koa";
import { Type } from "typebox";
import { AppError, type FieldError, notFound } from "../lib/errors.ts";
import { type FieldFilter, readFieldFilter, responseFields } from "./fields.ts";
import { type PageRequest, readPage } from "./pagination.ts";
import type { ReadBody } from "./read-body.ts";
import { queryParametersOf } from "./request-parameters.ts";
import type { AnyRoute } from "./route.ts";
import { type Check, type Coerce, compileCheck, compileCoerce } from "./validate.ts";

/** Everything a caller sent, checked against the route's declaration. */
export interface Input {
  params: Record<string, string>;
  query: Record<string, unknown>;
  body: Record<string, unknown>;
  page: PageRequest;
  filter: FieldFilter;
  orgId?: string;
}

export type ReadInput = (ctx: Context, params: Record<string, string>) => Promise<Input>;

const closed = (schema: object): object => ({ ...schema, additionalProperties: false });

/** One problem for all that is wrong; the detail tells the first few. */
function refuse(errors: FieldError[]): AppError {
  const told = errors.slice(0, 3).map(error => `${error.path} ${error.message}`.trim());
  const rest = errors.length - told.length;
  return new AppError("invalid", `${told.join("; ")}${rest > 0 ? `; and ${rest} more` : ""}`, {
    fields: errors,
  });
}

/** The pairs of a query string; a name given twice is an error, since either value could be meant. */
function readQueryString(text: string): { given: Map<string, string>; errors: FieldError[] } {
  const given = new Map<string, string>();
  const errors: FieldError[] = [];
  try {
    decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    errors.push({ in: "query", path: "", message: "the query string is not percent-encoded UTF-8" });
  }
  for (const [name, value] of new URLSearchParams(text)) {
    if (given.has(name)) errors.push({ in: "query", path: name, message: "is given more than once" });
    if (value.includes("\0")) errors.push({ in: "query", path: name, message: "holds a NUL character" });
    given.set(name, value);
  }
  return { given, errors: errors.slice(0, 20) };
}

/** A path that can't name anything is refused; one that merely fits no id is absent, as any other stranger's. */
function checkParams(params: Record<string, string>, check: Check, route: AnyRoute): void {
  for (const [path, value] of Object.entries(params)) {
    if (value.includes("\0")) throw refuse([{ in: "path", path, message: "holds a NUL character" }]);
  }
  if (check(params).length > 0) throw notFound(route.access.kind === "resource" ? route.access.what : "path");
}

interface Permits {
  fromQuery: Map<string, string>;
  fromBody: Record<string, unknown>;
}

/** Query parameters may stand in the body too; the query string wins (design.md, "REST decisions"). */
function splitPlaces({ fromQuery, fromBody }: Permits, coerce: Map<string, Coerce>) {
  const entries = Object.entries(fromBody);
  const moved = entries.filter(([name]) => coerce.has(name) && !fromQuery.has(name));
  const typed = (name: string, value: unknown) =>
    typeof value === "string" ? (coerce.get(name)?.(value) ?? value) : value;
  return {
    // Entries, never assignment: `__proto__` stays a plain unknown name.
    query: Object.fromEntries([...moved, ...fromQuery].map(([name, value]) => [name, typed(name, value)])),
    body: Object.fromEntries(entries.filter(([name]) => !coerce.has(name))),
    isMoved: (name: string) => moved.some(([other]) => other === name),
  };
}

const textsOf = (query: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(query).filter((pair): pair is [string, string] => typeof pair[1] === "string"),
  );

/** Runs what throws a 400 of its own, and keeps its fields beside the others'. */
function collect<T>(errors: FieldError[], read: () => T, otherwise: T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "invalid") throw error;
    errors.push(...error.fields);
    return otherwise;
  }
}

/** Compiles a route's schemas once; the reader throws one 400 that names every wrong parameter and field. */
export function compileInput(route: AnyRoute, readBody: ReadBody): ReadInput {
  const querySchema = queryParametersOf(route);
  const known = responseFields(route.response);
  const coerce = new Map(
    Object.entries(querySchema.properties).map(([name, schema]) => [name, compileCoerce(schema)]),
  );
  const checkQuery = compileCheck(closed(querySchema), "query");
  const checkBody = compileCheck(closed(route.body ?? Type.Object({})), "body");
  const checkPath = compileCheck(route.params ?? Type.Object({}), "path");

  return async (ctx, params) => {
    checkParams(params, checkPath, route);
    const { given, errors } = readQueryString(ctx.querystring);
    const { query, body, isMoved } = splitPlaces({ fromQuery: given, fromBody: await readBody(ctx) }, coerce);
    const queryErrors = checkQuery(query).map(error =>
      isMoved(error.path.split(".")[0] ?? "") ? { ...error, in: "body" as const } : error,
    );
    errors.push(...queryErrors, ...checkBody(body));
    const texts = textsOf(query);
    const { filter, errors: filterErrors } = readFieldFilter(texts, known);
    errors.push(...filterErrors);
    const limit = typeof query.limit === "number" ? query.limit : undefined;
    const paging = route.response.kind === "page" ? { ...texts, ...(limit && { limit }) } : {};
    const options = route.response.kind === "page" ? route.response : {};
    const page = collect(errors, () => readPage(paging, options), { limit: 1 });
    if (errors.length > 0) throw refuse(errors);
    return { params, query, body, page, filter, ...(texts.org_id && { orgId: texts.org_id }) };
  };
}
