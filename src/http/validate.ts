import type { Ajv, ErrorObject, Options } from "ajv";
import addFormats from "ajv-formats";
import type { TSchema } from "typebox";
import type { FieldError } from "../lib/errors.ts";
import { openPer } from "../lib/lazy.ts";
import { newAjv, wordsOfPattern } from "../lib/schemas.ts";

const OPTIONS: Options = { strict: false, allErrors: true, verbose: true, ownProperties: true };

function withFormats(options: Options): Ajv {
  const ajv = newAjv({ ...OPTIONS, ...options });
  addFormats.default(ajv);
  return ajv;
}

const checking = withFormats({ useDefaults: true });
/** Stops at the first error: those of a large body could take more memory than the body. */
const checkingLarge = withFormats({ useDefaults: true, allErrors: false });
const coercing = withFormats({ coerceTypes: true });

/** Longer lists and paths would only echo the request. */
const MAX_ERRORS = 50;
const MAX_PATH_CHARS = 200;

/** Returns a copy without `$id`s: Ajv accepts one schema per id, and the same part may be used in many routes. */
function withoutIds(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutIds);
  if (typeof schema !== "object" || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key, value]) => key !== "$id" || typeof value !== "string")
      .map(([key, value]) => [key, withoutIds(value)]),
  );
}

/** Returns the path of the field with the error, such as `configured_props.timer`. */
function pathOf(error: ErrorObject): string {
  const steps = error.instancePath
    .split("/")
    .slice(1)
    .map(step => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  const { missingProperty, additionalProperty } = error.params;
  const last = missingProperty ?? additionalProperty;
  return [...steps, ...(last === undefined ? [] : [last])].join(".").slice(0, MAX_PATH_CHARS);
}

const article = (type: string) => (type === "null" ? type : `${/^[aio]/.test(type) ? "an" : "a"} ${type}`);

const listOf = (values: unknown[]) =>
  values.map(value => (typeof value === "string" ? value : JSON.stringify(value))).join(", ");

/** Describes the branches of a union by their literals, or by their types. */
function unionMessage(branches: { const?: unknown; type?: string }[]): string {
  if (branches.every(branch => "const" in branch)) {
    return `must be one of ${listOf(branches.map(branch => branch.const))}`;
  }
  const types = branches.map(branch => branch.type).filter(type => typeof type === "string");
  if (types.length === branches.length) return `must be ${[...new Set(types)].map(article).join(" or ")}`;
  return "does not match any of the allowed forms";
}

const MESSAGES: Record<string, (error: ErrorObject, location: FieldError["in"]) => string> = {
  required: () => "is required",
  additionalProperties: (_, location) => `is not a known ${location === "query" ? "parameter" : "field"}`,
  type: ({ params }) => `must be ${[params.type].flat().map(article).join(" or ")}`,
  const: ({ params }) => `must be ${listOf([params.allowedValue])}`,
  enum: ({ params }) => `must be one of ${listOf(params.allowedValues)}`,
  anyOf: ({ schema }) => unionMessage(schema as { type?: string }[]),
  minimum: ({ params }) => `must be at least ${params.limit}`,
  maximum: ({ params }) => `must be at most ${params.limit}`,
  minLength: ({ params }) =>
    params.limit === 1 ? "must not be empty" : `must have at least ${params.limit} characters`,
  maxLength: ({ params }) => `must have at most ${params.limit} characters`,
  minItems: ({ params }) => `must have at least ${params.limit} items`,
  maxItems: ({ params }) => `must have at most ${params.limit} items`,
  pattern: ({ params }) => wordsOfPattern(params.pattern),
  format: ({ params }) => `must be a valid ${params.format}`,
};

/** Removes the errors of the single branches of a union, which Ajv reports besides the error of the union itself. */
function withoutBranches(errors: ErrorObject[]): ErrorObject[] {
  const unions = errors.filter(error => error.keyword === "anyOf");
  return errors.filter(
    error => !unions.some(union => union !== error && error.schemaPath.startsWith(`${union.schemaPath}/`)),
  );
}

/** Returns what is wrong with a value, for its sender; an empty list if nothing is. Fills in defaults in place. */
export type Check = (value: unknown) => FieldError[];

type Validate = ReturnType<Ajv["compile"]>;

/** Compiled schemas. Several routes, and their examples, may have the same one, and to compile it takes a few milliseconds. */
const compiledBy = (ajv: Ajv) =>
  openPer((schema: object): Validate => ajv.compile(withoutIds(schema) as object));
const [compile, compileLarge] = [compiledBy(checking), compiledBy(checkingLarge)];

/** Compiles a schema into a check; `location` is the `in` of its errors. Of a large value it reports the first one only. */
export function compileCheck(schema: object, location: FieldError["in"], { isLarge = false } = {}): Check {
  const validate = (isLarge ? compileLarge : compile)(schema);
  return value => {
    if (validate(value)) return [];
    return withoutBranches(validate.errors ?? [])
      .slice(0, MAX_ERRORS)
      .map(error => ({
        in: location,
        path: pathOf(error),
        message: MESSAGES[error.keyword]?.(error, location) ?? error.message ?? "is invalid",
      }));
  };
}

/** Converts a value of a query string to its declared type. Returns it unchanged if that is not possible. */
export type Coerce = (text: string) => unknown;

/** Ajv accepts everything that `Number` does, such as `0x10`, `1e2` or spaces; the API does not. */
const DECIMAL = /^-?[0-9]+(\.[0-9]+)?$/;

/**
 * Compiles the schema of one query parameter, once: many routes have the same. The check that follows reports a value that
 * was not converted.
 */
export const compileCoerce = openPer((schema: TSchema): Coerce => {
  const validate = coercing.compile({ type: "object", properties: { value: withoutIds(schema) } });
  const isNumber = ["integer", "number"].includes((schema as { type?: string }).type ?? "");
  return text => {
    if (isNumber && !DECIMAL.test(text)) return text;
    const holder: { value: unknown } = { value: text };
    validate(holder);
    return holder.value;
  };
});
