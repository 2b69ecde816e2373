import type { TSchema } from "typebox";
import type { FieldError } from "../lib/errors.ts";
import type { ResponseSpec } from "./response.ts";

/** Which top-level fields of the response's objects the caller wants (rest-api.md section 4.1). */
export interface FieldFilter {
  include?: ReadonlySet<string>;
  exclude?: ReadonlySet<string>;
}

interface ObjectLike {
  properties?: Record<string, unknown>;
  anyOf?: TSchema[];
  allOf?: TSchema[];
}

/** Field names of an object schema, or of all branches of a union. */
export function fieldNames(schema: TSchema): Set<string> {
  const { properties = {}, anyOf = [], allOf = [] } = schema as ObjectLike;
  return new Set([
    ...Object.keys(properties),
    ...[...anyOf, ...allOf].flatMap(part => [...fieldNames(part)]),
  ]);
}

/** Names that may be included or excluded; null where the response has no fields to choose from. */
export function responseFields(response: ResponseSpec): Set<string> | null {
  return "schema" in response && response.schema ? fieldNames(response.schema) : null;
}

/**
 * Reads `include` and `exclude`; an unknown name is an error that names it, so that a typo never passes silently. Where
 * the response has no fields, both are without effect.
 */
export function readFieldFilter(
  query: { include?: string; exclude?: string },
  known: Set<string> | null,
): { filter: FieldFilter; errors: FieldError[] } {
  const errors: FieldError[] = [];
  const filter: FieldFilter = {};
  for (const kind of ["include", "exclude"] as const) {
    const names = (query[kind] ?? "")
      .split(",")
      .map(name => name.trim())
      .filter(Boolean);
    if (names.length === 0 || !known) continue;
    for (const name of names.filter(one => !known.has(one)).slice(0, 10)) {
      errors.push({ in: "query", path: kind, message: `${name} is not a field of the response` });
    }
    filter[kind] = new Set(names);
  }
  return { filter, errors };
}

/** A copy with the wanted fields: first those included, then without those excluded. */
export function filterFields<T>(value: T, { include, exclude }: FieldFilter): T {
  if ((!include && !exclude) || typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(
    ([name]) => (!include || include.has(name)) && !exclude?.has(name),
  );
  return Object.fromEntries(kept) as T;
}
