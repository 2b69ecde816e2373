import { InvalidArgumentError } from "commander";
import { JsonText } from "../lib/json-text.ts";

/** Parses an option; in an object, because commander would replace a parsed `null` by `""`, as if it had no value. */
export function parseJsonOption(text: string): JsonText {
  const json = new JsonText(text);
  try {
    void json.value;
    return json;
  } catch {
    throw new InvalidArgumentError("must be JSON");
  }
}

/** Parses an option that must be a JSON object. */
export function parseObjectOption(text: string): Record<string, unknown> {
  const { value } = parseJsonOption(text);
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new InvalidArgumentError("must be a JSON object");
}
