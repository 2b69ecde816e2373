import { Ajv, type Options } from "ajv";
import { type TSchema, Type } from "typebox";

/**
 * Returns an Ajv for schemas that are written in this project. It does not check them against the schema of JSON Schema itself, which
 * each Ajv would compile first: 25 ms of processor time, some seven times in every start of a process
 * (docs/decisions/0051-time-of-the-tests.md).
 */
export const newAjv = (options: Options): Ajv => new Ajv({ ...options, meta: false, validateSchema: false });

const words = new Map<string, string>();

/** Returns a pattern for a schema. Who gives a text that does not match is told what it must be, and not shown the pattern. */
export function patternInWords(pattern: string, message: string): string {
  words.set(pattern, message);
  return pattern;
}

/** Returns what a text that does not match a pattern is told, such as `must be a slug`. */
export const wordsOfPattern = (pattern: string): string => words.get(pattern) ?? "has a wrong form";

/** Whether there are words for a pattern. */
export const hasWords = (pattern: string): boolean => words.has(pattern);

/** Returns the schema of a value that may be null. */
export const OrNull = <T extends TSchema>(schema: T, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description });

/** Returns the schema of a text that may be null. */
export const NullableText = (description: string) => OrNull(Type.String(), description);

/** Returns the schema of an integer that may be null: one schema instead of a union, so that an error names the limit that was exceeded. */
export const NullableInteger = (description: string, limits: { minimum?: number; maximum?: number } = {}) =>
  Type.Unsafe<number | null>({ type: ["integer", "null"], ...limits, description });

/** Returns the schema of a parameter that bounds a time, in Unix seconds, which the description says. */
export const UnixSeconds = (description: string) =>
  Type.Integer({
    minimum: 0,
    maximum: 32_503_680_000,
    description: `${description}; Unix seconds, inclusive.`,
  });

/** Returns the schema of a time in Unix milliseconds, which the description says. */
export const UnixMs = (description: string) =>
  Type.Integer({ description: `${description} Unix milliseconds.` });
