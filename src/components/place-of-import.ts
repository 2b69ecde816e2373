import { AppError } from "../lib/errors.ts";
import type { SourceModule } from "./load-modules.ts";

/**
 * ` (app.mjs, line 2, column 8)`, where a file names this import; empty where the name stands in no plain import. It
 * reads the whole text, so it is for a refusal only.
 */
export function placeOfImport({ id, text }: Pick<SourceModule, "id" | "text">, specifier: string): string {
  const literal = specifier.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const found = new RegExp(`\\b(?:from|import|require)\\s*(?:\\(\\s*)?(?=(["'\`])${literal}\\1)`).exec(text);
  if (found === null) return "";
  const before = text.slice(0, found.index + found[0].length).split("\n");
  return ` (${id}, line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1})`;
}

/** The same refusal, its message ending in the place. */
export function atPlace(error: unknown, place: string): unknown {
  if (!(error instanceof AppError) || place === "") return error;
  return new AppError(error.code, error.message + place, {
    fields: error.fields.map(field => ({ ...field, message: field.message + place })),
    cause: error.cause,
  });
}
