import type { TSchema } from "typebox";
import type { FieldError } from "../lib/errors.ts";
import { splitList } from "../lib/split-list.ts";
import type { ResponseSpec } from "./response.ts";

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
