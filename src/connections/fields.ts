import { invalidField } from "../lib/errors.ts";
import { LIMITS } from "../limits/catalogue.ts";

/** What code may call a field. */
const NAME = /^[A-Za-z_]\w{0,63}$/;
const MAX_BYTES = LIMITS.connectionBytes.value;

/** Throws `invalid` for fields of a connection that can't be stored. The error names the field, and never shows its value. */
export function checkFields(fields: Record<string, string>): void {
  for (const name of Object.keys(fields)) {
    if (!NAME.test(name) || name === "__proto__") {
      throw invalidField("body", `fields.${name.slice(0, 64)}`, "must be a name of letters, digits and _");
    }
  }
  const bytes = Object.entries(fields).reduce((sum, pair) => sum + Buffer.byteLength(pair.join("")), 0);
  if (bytes <= MAX_BYTES) return;
  throw invalidField("body", "fields", `must have at most ${MAX_BYTES / 1024} KB of names and values`);
}
