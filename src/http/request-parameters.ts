import { type TInteger, type TObject, type TProperties, Type } from "typebox";
import { patternInWords } from "../lib/pattern-words.ts";
import { DEFAULT_LIMIT, isPaged, MAX_CURSOR_CHARS, MAX_LIMIT } from "./pagination.ts";
import type { ResponseSpec } from "./response.ts";
import type { AnyRoute } from "./route.ts";

/** Accepted on every route except public ones (docs/rest-api.md#common-parameters). */
const COMMON = {
  include: Type.Optional(
    Type.String({
      maxLength: 2000,
      description:
        "Comma-separated fields of the response's objects to include; all other fields are left out, even " +
        "required ones.",
    }),
  ),
  exclude: Type.Optional(
    Type.String({
      maxLength: 2000,
      description: "Comma-separated fields of the response's objects to leave out, even required ones.",
    }),
  ),
  org_id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: "Id of the organization in which the operation takes effect.",
    }),
  ),
} satisfies TProperties;

/** What every cursor has in common; the codec of the list checks the rest. */
const CURSOR = {
  minLength: 1,
  maxLength: MAX_CURSOR_CHARS,
  pattern: patternInWords("^[A-Za-z0-9_-]*$", "must be a cursor of an earlier page"),
};
const LIMIT = { minimum: 1, maximum: MAX_LIMIT };

const paging = (limit: TInteger) => ({
  limit: Type.Optional(limit),
  after: Type.Optional(
    Type.String({ ...CURSOR, description: "A cursor; the page starts with the item after it." }),
  ),
  before: Type.Optional(
    Type.String({
      ...CURSOR,
      description: "A cursor; the page ends with the item before it. Not together with `after`.",
    }),
  ),
});

/** Returns the paging parameters that routes with this response accept (docs/rest-api.md#pagination). */
function pagingOf(response: ResponseSpec): TProperties {
  if (!isPaged(response)) return {};
  if (response.kind !== "page") {
    const description =
      "Page size. Without `limit`, `after` and `before`, the response is the whole list, without `page_info`.";
    return paging(Type.Integer({ ...LIMIT, description }));
  }
  const { defaultLimit = DEFAULT_LIMIT } = response;
  return paging(Type.Integer({ ...LIMIT, default: defaultLimit, description: "Page size." }));
}

/**
 * Returns the schema of all query parameters of a route, its own and the common ones. Throws for a mistake in the
 * route: if a name were declared twice, it would be unclear which one a field of the body is.
 */
export function queryParametersOf(route: AnyRoute): TObject {
  const own = route.query?.properties ?? {};
  const common: TProperties = route.access.kind === "public" ? {} : COMMON;
  const paging = pagingOf(route.response);
  for (const name of Object.keys(own)) {
    if (name in common || name in paging) {
      throw new Error(`${route.id}: query parameter ${name} is already a common parameter`);
    }
  }
  const all = { ...own, ...paging, ...common };
  for (const name of Object.keys(route.body?.properties ?? {})) {
    if (name in all) throw new Error(`${route.id}: ${name} is both a query parameter and a body field`);
  }
  return Type.Object(all);
}
