import { Type } from "typebox";
import { AppError, type FieldError, notFound } from "../lib/errors.ts";
import { openPer } from "../lib/lazy.ts";
import type { PageRequest } from "../store/page.ts";
import {
  type FieldFilter,
  isPaged,
  queryParametersOf,
  readFieldFilter,
  readPage,
  responseFields,
} from "./common-parameters.ts";
import type { JsonBody } from "./json-body.ts";
import type { AnyRoute } from "./route.ts";
import { type Check, type Coerce, compileCheck, compileCoerce } from "./validate.ts";

/** Everything that a caller sent, checked against the route's declaration. */
export interface Input {
  params: Record<string, string>;
  query: Record<string, unknown>;
  body: Record<string, unknown>;
  /** The text of the whole body. */
  bodyText: string;
  page: PageRequest;
  filter: FieldFilter;
  orgId?: string;
  /** Returns an error about what was given, with the place where it was given. */
  located: (error: unknown) => unknown;
}

/** What a caller sent, unchecked. */
export interface Sent {
  params: Record<string, string>;
  queryString: string;
  /** Is called once the path and its parameters may exist. */
  readBody: () => Promise<JsonBody>;
}

export type ReadInput = (sent: Sent) => Promise<Input>;

const closed = (schema: object): object => ({ ...schema, additionalProperties: false });

/** Returns one error for all invalid parameters and fields; its message describes the first three. */
function invalidInput(errors: FieldError[]): AppError {
  const first = errors.slice(0, 3).map(error => `${error.path} ${error.message}`.trim());
  const more = errors.length - first.length;
  const message = first.join("; ") + (more > 0 ? `; and ${more} more` : "");
  return new AppError("invalid", message, { fields: errors });
}

/** Parses a query string. A parameter given twice is an error, because either value could be meant. */
function readQueryString(text: string): { given: Map<string, string>; errors: FieldError[] } {
  const given = new Map<string, string>();
  const errors: FieldError[] = [];
  try {
    decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    errors.push({ in: "query", path: "", message: "the query string is not valid percent-encoded UTF-8" });
  }
  for (const [name, value] of new URLSearchParams(text)) {
    if (given.has(name)) errors.push({ in: "query", path: name, message: "is given more than once" });
    if (value.includes("\0")) errors.push({ in: "query", path: name, message: "contains a NUL character" });
    given.set(name, value);
  }
  return { given, errors: errors.slice(0, 20) };
}

/**
 * Throws `invalid` for a path parameter that can't be an id at all, and `not-found` for one that does not match the
 * route's schema: such an id does not exist.
 */
function checkParams(params: Record<string, string>, check: Check, route: AnyRoute): void {
  for (const [path, value] of Object.entries(params)) {
    if (value.includes("\0")) throw invalidInput([{ in: "path", path, message: "contains a NUL character" }]);
  }
  if (check(params).length > 0) throw notFound(route.access.kind === "resource" ? route.access.what : "path");
}

/**
 * Separates the query parameters of a request from its body fields. Query parameters may also be given in the body; the
 * query string wins (docs/rest-api.md#common-parameters).
 */
function separateParameters(
  queryString: Map<string, string>,
  jsonBody: Record<string, unknown>,
  coerce: Map<string, Coerce>,
) {
  const fields = Object.entries(jsonBody);
  const inBody = fields.filter(([name]) => coerce.has(name) && !queryString.has(name));
  const typed = (name: string, value: unknown) =>
    typeof value === "string" ? (coerce.get(name)?.(value) ?? value) : value;
  return {
    // `fromEntries` and never assignment, so that `__proto__` is an unknown name like any other.
    query: Object.fromEntries([...inBody, ...queryString].map(([name, value]) => [name, typed(name, value)])),
    body: Object.fromEntries(fields.filter(([name]) => !coerce.has(name))),
    located: locator(new Set(fields.map(([name]) => name).filter(name => !queryString.has(name)))),
  };
}

/** A parameter may have been given as a field of the body: its error then names that place. */
const locator =
  (fields: ReadonlySet<string>) =>
  (error: FieldError): FieldError =>
    error.in === "query" && fields.has(error.path.split(".")[0] ?? "") ? { ...error, in: "body" } : error;

/** Returns an error of what a route found wrong itself, with the place of each field. */
function errorAt(error: unknown, located: (field: FieldError) => FieldError): unknown {
  if (!(error instanceof AppError) || error.code !== "invalid") return error;
  return new AppError("invalid", error.message, { fields: error.fields.map(located), cause: error });
}

/** Returns the parameters with a string as their value. */
const stringsOf = (query: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(query).filter((pair): pair is [string, string] => typeof pair[1] === "string"),
  );

/** Calls `read`; if it throws `invalid`, adds the fields of that error to `errors` and returns `otherwise`. */
function collectErrors<T>(errors: FieldError[], read: () => T, otherwise: T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "invalid") throw error;
    errors.push(...error.fields);
    return otherwise;
  }
}

interface Checks {
  coerce: Map<string, Coerce>;
  checkQuery: Check;
  checkBody: Check;
  checkPath: Check;
}

/** Of each route, once in a process: tests start many systems in one, and to compile all checks takes longer than to start one. */
const checksOf = openPer((route: AnyRoute): Checks => {
  const querySchema = queryParametersOf(route);
  const isLarge = route.maxBodyBytes !== undefined;
  return {
    coerce: new Map(
      Object.entries(querySchema.properties).map(([name, schema]) => [name, compileCoerce(schema)]),
    ),
    checkQuery: compileCheck(closed(querySchema), "query"),
    checkBody: compileCheck(closed(route.body ?? Type.Object({})), "body", { isLarge }),
    checkPath: compileCheck(route.params ?? Type.Object({}), "path"),
  };
});

/** Returns a reader of a route's input, which throws one `invalid` that lists every wrong parameter and field. */
export function compileInput(route: AnyRoute): ReadInput {
  const known = responseFields(route.response);
  const { coerce, checkQuery, checkBody, checkPath } = checksOf(route);

  return async ({ params, queryString, readBody }) => {
    checkParams(params, checkPath, route);
    const { given, errors } = readQueryString(queryString);
    const { fields, text: bodyText } = await readBody();
    const { query, body, located } = separateParameters(given, fields, coerce);
    const found = checkQuery(query);
    const strings = stringsOf(query);
    const { filter, errors: filterErrors } = readFieldFilter(strings, known);
    const limit = typeof query.limit === "number" ? query.limit : undefined;
    const paging = isPaged(route.response) ? { ...strings, ...(limit && { limit }) } : {};
    const pageErrors: FieldError[] = [];
    const page = found.some(({ path }) => path in paging)
      ? { limit: 1 }
      : collectErrors(pageErrors, () => readPage(paging, route.response), { limit: 1 });
    errors.push(...[...found, ...filterErrors, ...pageErrors].map(located), ...checkBody(body));
    if (errors.length > 0) throw invalidInput(errors);
    const orgId = strings.org_id && { orgId: strings.org_id };
    return {
      params,
      query,
      body,
      bodyText,
      page,
      filter,
      ...orgId,
      located: error => errorAt(error, located),
    };
  };
}
