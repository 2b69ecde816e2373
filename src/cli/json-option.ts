import { InvalidArgumentError } from "commander";

/** Parses an option; in an object, because commander would replace a parsed `null` by `""`, as if it had no value. */
export function parseJsonOption(text: string): { value: unknown } {
  try {
    return { value: JSON.parse(text) };
  } catch {
    throw new InvalidArgumentError("must be JSON");
  }
}
