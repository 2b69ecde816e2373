import type { QueryFilter } from "mongoose";
import { type TOptional, type TString, Type } from "typebox";
import { patternInWords } from "../lib/schemas.ts";
import { LIMITS } from "../limits/catalogue.ts";

/** Control characters are in no name, and MongoDB takes none of them in a pattern. */
const TEXT = patternInWords("^[^\\u0000-\\u001f\\u007f]*$", "must not have control characters");

/** What every text that is looked for has in common. */
export const SEARCHED_TEXT = { minLength: 1, maxLength: LIMITS.searchCharacters.value, pattern: TEXT };

/** Returns the schema of `q`, the filter of a list by text; `where` says what of a thing the text is looked for in. */
export const TextFilter = (where: string): TOptional<TString> =>
  Type.Optional(
    Type.String({
      ...SEARCHED_TEXT,
      description: `Only those with this text in ${where}, in either case.`,
    }),
  );

/** Characters that have a meaning in a regular expression. */
const SPECIAL = /[.*+?^${}()|[\]\\]/g;

/**
 * Returns a filter for rows of which one of these fields contains the text, in either case. No index helps: the rest of the
 * query names an account, all of whose rows of the kind may be read, as many as its plan allows (docs/limits.md).
 */
export function containing<Row>(text: string, fields: (keyof Row & string)[]): QueryFilter<Row> {
  const $regex = text.replace(SPECIAL, "\\$&");
  const parts = fields.map(field => ({ [field]: { $regex, $options: "i" } }));
  return { $or: parts } as QueryFilter<Row>;
}

/** Greater than any character of an id. */
const LAST = "\u{10ffff}";

/** Returns the bounds of the ids that begin with a text: for which an index of ids is enough. */
export const beginningWith = (text: string): { $gte: string; $lt: string } => ({
  $gte: text,
  $lt: `${text}${LAST}`,
});
