import { AppError } from "../lib/errors.ts";
import type { SourceModule } from "./load-modules.ts";

/**
 * Returns where a file imports `specifier`, as text for an error message: ` (app.mjs, line 2, column 8)`. Returns an
 * empty string if the specifier is not in an ordinary import. It searches the whole text, so it is for errors only.
 */
export function importLocation({ id, text }: Pick<SourceModule, "id" | "text">, specifier: string): string {
  const literal = specifier.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const found = new RegExp(`\\b(?:from|import|require)\\s*(?:\\(\\s*)?(?=(["'\`])${literal}\\1)`).exec(text);
  if (found === null) return "";
  const before = text.slice(0, found.index + found[0].length).split("\n");
  return ` (${id}, line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1})`;
}

/** Returns the same error with the location at the end of its messages. Errors other than AppError stay as they are. */
export function withLocation(error: unknown, location: string): unknown {
  if (!(error instanceof AppError) || location === "") return error;
  return new AppError(error.code, error.message + location, {
    fields: error.fields.map(field => ({ ...field, message: field.message + location })),
    cause: error.cause,
  });
}
