import { type TInteger, type TObject, type TProperties, type TSchema, Type } from "typebox";
import { type FieldError, invalidField } from "../lib/errors.ts";
import { splitList } from "../lib/lists.ts";
import { patternInWords } from "../lib/schemas.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { type Page, type PageRequest, WHOLE_LIST } from "../store/page.ts";
import type { AnyRoute, PageOptions, ResponseSpec } from "./route.ts";

/** Page sizes (docs/rest-api.md#pagination). */
export const DEFAULT_LIMIT = 10;
export const MAX_LIMIT = LIMITS.pageRows.value;

/** Longer than any of our ids in base64url, but too short for a cursor to carry a document. */
const MAX_CURSOR_CHARS = 256;

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

/** The top-level fields of the response's objects that the caller asked for (docs/rest-api.md#common-parameters). */
export interface FieldFilter {
  include?: ReadonlySet<string>;
  exclude?: ReadonlySet<string>;
}

interface ObjectLike {
  properties?: Record<string, unknown>;
  anyOf?: TSchema[];
  allOf?: TSchema[];
}

/** Returns the field names of an object schema, or of all branches of a union. */
export function fieldNames(schema: TSchema): Set<string> {
  const { properties = {}, anyOf = [], allOf = [] } = schema as ObjectLike;
  return new Set([
    ...Object.keys(properties),
    ...[...anyOf, ...allOf].flatMap(part => [...fieldNames(part)]),
  ]);
}

/** Returns the names that may be included or excluded; null if the response has no fields to choose from. */
export function responseFields(response: ResponseSpec): Set<string> | null {
  return "schema" in response && response.schema ? fieldNames(response.schema) : null;
}

/**
 * Reads `include` and `exclude`. Returns an error for each unknown name, so that a typo never passes silently. If the
 * response has no fields (`known` is null), both parameters have no effect.
 */
export function readFieldFilter(
  query: { include?: string; exclude?: string },
  known: Set<string> | null,
): { filter: FieldFilter; errors: FieldError[] } {
  const errors: FieldError[] = [];
  const filter: FieldFilter = {};
  for (const kind of ["include", "exclude"] as const) {
    const names = splitList(query[kind] ?? "");
    if (names.length === 0 || !known) continue;
    for (const name of names.filter(unknown => !known.has(unknown)).slice(0, 10)) {
      errors.push({ in: "query", path: kind, message: `${name} is not a field of the response` });
    }
    filter[kind] = new Set(names);
  }
  return { filter, errors };
}

/** Returns a copy with the included fields (all of them without `include`), minus the excluded ones. */
export function filterFields<T>(value: T, { include, exclude }: FieldFilter): T {
  if ((!include && !exclude) || typeof value !== "object" || value === null) return value;
  const selected = Object.entries(value).filter(
    ([name]) => (!include || include.has(name)) && !exclude?.has(name),
  );
  return Object.fromEntries(selected) as T;
}

/** Converts row ids to cursors and back. `decode` returns null for a string that `encode` never returns. */
export interface CursorCodec {
  encode(rowId: string): string;
  decode(cursor: string): string | null;
}

/** Cursors that are the unpadded base64url of the row id (docs/design.md#lists). */
export const rowIdCursor: CursorCodec = {
  encode: rowId => Buffer.from(rowId, "utf8").toString("base64url"),
  decode(cursor) {
    const rowId = Buffer.from(cursor, "base64url").toString("utf8");
    // Node ignores characters that are not base64url and replaces invalid UTF-8, so compare with the encoded id.
    return rowId && Buffer.from(rowId, "utf8").toString("base64url") === cursor ? rowId : null;
  },
};

/** Returns a codec for ids that are cursors as they are, such as event ids. Ids must match `pattern`. */
export function plainCursor(pattern: RegExp): CursorCodec {
  return { encode: rowId => rowId, decode: cursor => (pattern.test(cursor) ? cursor : null) };
}

function decode(codec: CursorCodec, name: "after" | "before", cursor: string): string {
  const rowId = cursor.length > MAX_CURSOR_CHARS || cursor.includes("\0") ? null : codec.decode(cursor);
  if (rowId === null || rowId.includes("\0")) throw invalidField("query", name, "is not a valid cursor");
  return rowId;
}

/** True if routes with this response accept `limit`, `after` and `before`. */
export const isPaged = ({ kind }: ResponseSpec): boolean => kind === "page" || kind === "list";

interface PageParameters {
  limit?: number;
  after?: string;
  before?: string;
}

/**
 * Reads `limit`, `after` and `before`, and decodes the cursor. Without any of them, the page of a list response is the
 * whole list. Throws `invalid` for a malformed cursor, or if both cursors are given.
 */
export function readPage({ limit, after, before }: PageParameters, response: ResponseSpec): PageRequest {
  const isWhole = [limit, after, before].every(given => given === undefined);
  if (response.kind === "list" && isWhole) return WHOLE_LIST;
  const options: PageOptions = response.kind === "page" ? response : {};
  const { cursor: codec = rowIdCursor, defaultLimit = DEFAULT_LIMIT } = options;
  if (after !== undefined && before !== undefined) {
    throw invalidField("query", "before", "can't be combined with after");
  }
  return {
    limit: limit ?? defaultLimit,
    ...(after !== undefined && { after: decode(codec, "after", after) }),
    ...(before !== undefined && { before: decode(codec, "before", before) }),
  };
}

/** Returns the envelope of a page, with its cursors encoded. */
export function pageEnvelope(page: Page<unknown>, codec: CursorCodec = rowIdCursor) {
  const encode = (rowId: string | null) => (rowId === null ? null : codec.encode(rowId));
  return {
    page_info: {
      total_count: page.totalCount,
      count: page.rows.length,
      start_cursor: encode(page.startCursor),
      end_cursor: encode(page.endCursor),
    },
    data: page.rows,
  };
}
