import { responseFields } from "./fields.ts";
import type { AnyRoute } from "./route.ts";
import { compileCheck } from "./validate.ts";

/** Throws when an example of a route does not fit the route's own schemas: a reader would copy a mistake. */
export function checkExamples(route: AnyRoute): void {
  const { example, response } = route;
  if (!example) return;
  const parts = [
    ["params", route.params, example.params],
    ["query", route.query, example.query],
    ["body", route.body, example.body],
    ["response", "schema" in response ? response.schema : undefined, example.response],
  ] as const;
  for (const [name, schema, value] of parts) {
    if (!schema || value === undefined) continue;
    const wrong = compileCheck(
      schema,
      "body",
    )(structuredClone(value)).map(one => `${one.path} ${one.message}`);
    const known = name === "response" ? responseFields(response) : null;
    const extra = Object.keys(value as object).filter(key => known?.size && !known.has(key));
    const difference = [...wrong, ...extra.map(key => `${key} is not known`)].join("; ");
    if (difference) throw new Error(`${route.id}: the example's ${name} does not fit: ${difference}`);
  }
}
