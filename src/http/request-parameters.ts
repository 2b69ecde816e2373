import { type TObject, type TProperties, Type } from "typebox";
import { DEFAULT_LIMIT, MAX_LIMIT } from "./pagination.ts";
import type { AnyRoute } from "./route.ts";

/** Accepted on every route but public ones (rest-api.md section 4.1). */
const COMMON = {
  include: Type.Optional(
    Type.String({
      maxLength: 2000,
      description:
        "Comma-separated fields of the response's objects to keep; the others are absent, required or not.",
    }),
  ),
  exclude: Type.Optional(
    Type.String({
      maxLength: 2000,
      description: "Comma-separated fields of the response's objects to leave out, required or not.",
    }),
  ),
  org_id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: "Organization in which the operation takes effect.",
    }),
  ),
} satisfies TProperties;

const pagination = (defaultLimit: number) => ({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_LIMIT, default: defaultLimit, description: "Page size." }),
  ),
  after: Type.Optional(Type.String({ description: "Cursor: answers the items after it." })),
  before: Type.Optional(Type.String({ description: "Cursor: answers the items just before it." })),
});

/**
 * All query parameters of a route, its own and the common ones. Throws for a wiring mistake: a name that is declared
 * twice could not be taken from a body without a guess.
 */
export function queryParametersOf(route: AnyRoute): TObject {
  const own = route.query?.properties ?? {};
  const common: TProperties = route.access.kind === "public" ? {} : COMMON;
  const paging: TProperties =
    route.response.kind === "page" ? pagination(route.response.defaultLimit ?? DEFAULT_LIMIT) : {};
  for (const name of Object.keys(own)) {
    if (name in common || name in paging)
      throw new Error(`${route.id}: query parameter ${name} is a common one`);
  }
  const all = { ...own, ...paging, ...common };
  for (const name of Object.keys(route.body?.properties ?? {})) {
    if (name in all) throw new Error(`${route.id}: ${name} is both a query parameter and a body field`);
  }
  return Type.Object(all);
}
