import { Ajv, type ErrorObject, type Options } from "ajv";
import addFormats from "ajv-formats";
import type { TSchema } from "typebox";
import type { FieldError } from "../lib/errors.ts";

const OPTIONS: Options = { strict: false, allErrors: true, verbose: true, ownProperties: true };

function newAjv(options: Options): Ajv {
  const ajv = new Ajv({ ...OPTIONS, ...options });
  addFormats.default(ajv);
  return ajv;
}

const checking = newAjv({ useDefaults: true });
const coercing = newAjv({ coerceTypes: true });

/** Past these an response would only echo what somebody sent to fill it. */
const MAX_ERRORS = 50;
const MAX_PATH_CHARS = 200;

/** A copy without `$id`s: Ajv keeps one schema per id, and the same part may stand in many routes. */
function withoutIds(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutIds);
  if (typeof schema !== "object" || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key, value]) => key !== "$id" || typeof value !== "string")
      .map(([key, value]) => [key, withoutIds(value)]),
  );
}

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

/** Names the branches of a union: its literals, or else its types. */
function unionMessage(branches: { const?: unknown; type?: string }[]): string {
  if (branches.every(branch => "const" in branch)) {
    return `must be one of ${listOf(branches.map(branch => branch.const))}`;
  }
  const types = branches.map(branch => branch.type).filter(type => typeof type === "string");
  if (types.length === branches.length) return `must be ${[...new Set(types)].map(article).join(" or ")}`;
  return "has none of the allowed forms";
}

const MESSAGES: Record<string, (error: ErrorObject) => string> = {
  required: () => "is required",
  additionalProperties: () => "is not known",
  type: ({ params }) => `must be ${[params.type].flat().map(article).join(" or ")}`,
  const: ({ params }) => `must be ${listOf([params.allowedValue])}`,
  enum: ({ params }) => `must be one of ${listOf(params.allowedValues)}`,
  anyOf: ({ schema }) => unionMessage(schema as { type?: string }[]),
  minimum: ({ params }) => `must be ${params.limit} or more`,
  maximum: ({ params }) => `must be ${params.limit} or less`,
  minLength: ({ params }) => (params.limit === 1 ? "must not be empty" : `needs ${params.limit} characters`),
  maxLength: ({ params }) => `must have at most ${params.limit} characters`,
  minItems: ({ params }) => `needs ${params.limit} or more items`,
  maxItems: ({ params }) => `must have at most ${params.limit} items`,
  pattern: ({ params }) => `must match ${params.pattern}`,
  format: ({ params }) => `must be a valid ${params.format}`,
};

/** Ajv lists the failures of every branch of a union beside the union's own; only the latter says something. */
function withoutBranches(errors: ErrorObject[]): ErrorObject[] {
  const unions = errors.filter(error => error.keyword === "anyOf");
  return errors.filter(
    error => !unions.some(union => union !== error && error.schemaPath.startsWith(`${union.schemaPath}/`)),
  );
}

/** Lists what is wrong with a value, in words for its sender; fills in defaults in place. */
export type Check = (value: unknown) => FieldError[];

/** Compiles a schema into a check; `where` is named in each of its errors. */
export function compileCheck(schema: object, where: FieldError["in"]): Check {
  const validate = checking.compile(withoutIds(schema) as object);
  return value => {
    if (validate(value)) return [];
    return withoutBranches(validate.errors ?? [])
      .slice(0, MAX_ERRORS)
      .map(error => ({
        in: where,
        path: pathOf(error),
        message: MESSAGES[error.keyword]?.(error) ?? error.message ?? "is invalid",
      }));
  };
}

/** Turns the text of a query string into the declared type; a text that can't be stays, for the check to refuse. */
export type Coerce = (text: string) => unknown;

/** Ajv reads whatever `Number` does: `0x10`, `1e2`, blanks. Nobody means those. */
const DECIMAL = /^-?[0-9]+(\.[0-9]+)?$/;

export function compileCoerce(schema: TSchema): Coerce {
  const validate = coercing.compile({ type: "object", properties: { value: withoutIds(schema) } });
  const isNumber = ["integer", "number"].includes((schema as { type?: string }).type ?? "");
  return text => {
    if (isNumber && !DECIMAL.test(text)) return text;
    const holder: { value: unknown } = { value: text };
    validate(holder);
    return holder.value;
  };
}
