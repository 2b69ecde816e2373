import { isDeepStrictEqual } from "node:util";
import { invalidField } from "../lib/errors.ts";
import { checkCustomHeaders } from "../webhooks/custom-headers.ts";
import type { SecretValues } from "./stored.ts";

/**
 * Returns the names of the given secrets of a thing that are not as they are stored; those that are not stored differ. Throws
 * `invalid` for headers that no webhook can have.
 */
export const differingSecrets = (id: string, stored: SecretValues, given: SecretValues): string[] =>
  Object.keys(given).filter(name => {
    const value = id.startsWith("wh_") && name === "headers" ? headersAsStored(given[name]) : given[name];
    return !Object.hasOwn(stored, name) || !isDeepStrictEqual(stored[name], value);
  });

function headersAsStored(value: unknown): Record<string, string> {
  const isText = (one: unknown) => typeof one === "string";
  if (typeof value !== "object" || value === null || !Object.values(value).every(isText)) {
    throw invalidField("body", "secrets.headers", "must be texts by name");
  }
  return checkCustomHeaders(value as Record<string, string>);
}
