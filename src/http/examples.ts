import { responseFields } from "./common-parameters.ts";
import type { AnyRoute } from "./route.ts";
import { compileCheck } from "./validate.ts";

/** Throws if an example of a route does not match the route's own schemas, because readers copy examples. */
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
    const check = compileCheck(schema, "body");
    const errors = check(structuredClone(value)).map(error => `${error.path} ${error.message}`);
    const known = name === "response" ? responseFields(response) : null;
    const extra = Object.keys(value as object).filter(key => known?.size && !known.has(key));
    const difference = [...errors, ...extra.map(key => `${key} is not declared`)].join("; ");
    if (difference) {
      throw new Error(`${route.id}: the example's ${name} does not match its schema: ${difference}`);
    }
  }
}
