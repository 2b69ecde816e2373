import { valueAt } from "../lib/template-parts.ts";
import { EMIT_ID_CHARS } from "../limits/emit-limits.ts";
import { parseJson, partsOf } from "./request-values.ts";
import type { VerifyRule } from "./schema.ts";

/** A request that has been parsed. */
interface Parsed {
  headers: Record<string, string>;
  query: Record<string, string | string[]>;
  body: unknown;
}

/** Returns the id that a repeat of the request has again, where its rule says; null if it has none, or one that is too long. */
export function requestId(
  { id = [] }: Pick<VerifyRule, "id">,
  { headers, query, body }: Parsed,
): string | null {
  for (const place of id) {
    const [template] = partsOf(place);
    const path = typeof template === "object" ? template.path : null;
    // Some senders call their JSON a text, as Amazon SNS does.
    const isText = typeof body === "string" && path?.[0] === "body";
    const value = path && valueAt({ headers, query, body: isText ? parseJson(body) : body }, path);
    const isId = typeof value === "string" || typeof value === "number";
    if (isId && value !== "") return String(value).length > EMIT_ID_CHARS ? null : String(value);
  }
  return null;
}
