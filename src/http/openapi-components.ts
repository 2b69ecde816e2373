import { PROBLEMS } from "./problem.ts";

export type Json = { [key: string]: unknown };

/** Collects the schemas that have a name (`$id`, otherwise `title`) and replaces them with references. */
export interface SchemaCollection {
  /** Returns the schema for use in an operation: a reference if it has a name. */
  use(schema: unknown): unknown;
  /** The named schemas by name. */
  schemas: Json;
}

const nameOf = (schema: Json): string | undefined => {
  const name = [schema.$id, schema.title].find(text => typeof text === "string") as string | undefined;
  return name?.replaceAll(/[^A-Za-z0-9._-]/g, "");
};

/** A record of typebox, which allows any name. */
const ANY_NAME = "^.*$";

/** Describes a record by `additionalProperties`, because generators of clients ignore `patternProperties`. */
function asMap(schema: Json): Json {
  const { patternProperties, ...rest } = schema;
  const values = (patternProperties as Json | undefined)?.[ANY_NAME];
  if (values === undefined) return schema;
  const isAnything = Object.keys(values as object).length === 0;
  return { ...rest, additionalProperties: isAnything ? true : values };
}

interface Branch extends Json {
  const: string;
}

const isText = (branch: Json): branch is Branch =>
  Object.keys(branch).every(key => key === "type" || key === "const") && typeof branch.const === "string";

/** Describes a choice of texts by `enum`: generators of clients take the first `const` of a union for its only value. */
function asEnum(schema: Json): Json {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf)) return schema;
  const texts = (anyOf as Json[]).filter(isText);
  if (texts.length < 2) return schema;
  const choice = { type: "string", enum: texts.map(branch => branch.const) };
  const others = (anyOf as Json[]).filter(branch => !isText(branch));
  return others.length === 0 ? { ...choice, ...rest } : { anyOf: [choice, ...others], ...rest };
}

/** Returns an empty collection. Its `use` throws if two different schemas have the same name. */
export function collectSchemas(): SchemaCollection {
  const schemas: Json = {};
  const use = (schema: unknown): unknown => {
    if (Array.isArray(schema)) return schema.map(use);
    if (typeof schema !== "object" || schema === null) return schema;
    const entries = Object.entries(asEnum(asMap(schema as Json))).filter(
      ([key, value]) => key !== "$id" || typeof value !== "string",
    );
    const inner = Object.fromEntries(entries.map(([key, value]) => [key, use(value)]));
    // Only a schema has a type or branches. Elsewhere, `title` may be the name of a property.
    const isSchema = "type" in inner || "anyOf" in inner || "allOf" in inner || "enum" in inner;
    const name = isSchema ? nameOf(schema as Json) : undefined;
    if (!name) return inner;
    const known = schemas[name];
    if (known && JSON.stringify(known) !== JSON.stringify(inner)) {
      throw new Error(`two schemas are named ${name}`);
    }
    schemas[name] = inner;
    return { $ref: `#/components/schemas/${name}` };
  };
  return { use, schemas };
}

const text = (description: string) => ({ type: "string", description });

/** Schemas of the parts that every envelope and every problem has. */
export const FIXED_SCHEMAS: Json = {
  PageInfo: {
    type: "object",
    required: ["total_count", "count", "start_cursor", "end_cursor"],
    properties: {
      total_count: { type: "integer", description: "Number of items in the whole list." },
      count: { type: "integer", description: "Number of items on this page." },
      start_cursor: {
        type: ["string", "null"],
        description: "Cursor of the first item; null if the page is empty.",
      },
      end_cursor: {
        type: ["string", "null"],
        description: "Cursor of the last item; null if the page is empty.",
      },
    },
  },
  Problem: {
    type: "object",
    description: "A problem as defined by RFC 9457.",
    required: ["type", "title", "status", "detail", "error"],
    properties: {
      type: text("Address of the explanation of this kind of problem."),
      title: text("The kind of problem."),
      status: { type: "integer" },
      detail: text("What went wrong with this request."),
      error: text("The same text as `detail`."),
      revision: {
        type: "integer",
        description: "With `precondition-failed`: the revision that the resource has now.",
      },
      changed: {
        type: "array",
        items: { type: "string" },
        description:
          "With `precondition-failed`: the fields that requests have set since the wanted revision.",
      },
      errors: {
        type: "array",
        items: {
          type: "object",
          required: ["in", "path", "message"],
          properties: {
            in: {
              type: "string",
              enum: ["path", "query", "body", "header", "component"],
              description:
                "The part of the request that has the error; `component`: the code of the component.",
            },
            path: text("Path of the parameter or field, for example `configured_props.timer`."),
            message: text("What is wrong, for example `must be an integer`."),
          },
        },
      },
    },
  },
};

/** A header that not every response has is `optional`. */
const header = (description: string, type = "integer", isOptional: "optional" | "" = "") => ({
  description,
  required: isOptional === "",
  schema: { type },
});

/** Headers by component name. One component may describe the same header of other responses. */
export const FIXED_HEADERS: Json = {
  "X-Request-Id": header(
    "Identifies this request in the log; taken from the request if it has a valid one.",
    "string",
  ),
  "Retry-After": header("Number of seconds after which the same request may succeed."),
  RetryAfterInProgress: header(
    "Number of seconds after which the same request may succeed, if the one before it is still in progress.",
    "integer",
    "optional",
  ),
  ETag: header("The revision of the resource in quotes, for `If-Match`.", "string"),
  Allow: header("The methods that the path supports.", "string"),
  "RateLimit-Limit": header("Requests that the API key may send in a second.", "integer", "optional"),
  "RateLimit-Remaining": header("Requests that are left in this second.", "integer", "optional"),
  "RateLimit-Reset": header("Seconds until all requests are left again.", "integer", "optional"),
  "RateLimit-Policy": header("`<limit>;w=<seconds>`.", "string", "optional"),
};

const headerRef = (name: string, component = name) => ({
  [name]: { $ref: `#/components/headers/${component}` },
});

const RATE_LIMIT_HEADERS: Json = Object.assign(
  {},
  ...["Limit", "Remaining", "Reset", "Policy"].map(part => headerRef(`RateLimit-${part}`)),
);

/** Headers of every response. */
const RESPONSE_HEADERS: Json = headerRef("X-Request-Id");
/** Headers of every response to a request with a valid API key; the rate limit may be switched off. */
const KEYED_HEADERS: Json = { ...RESPONSE_HEADERS, ...RATE_LIMIT_HEADERS };

/** Returns the headers of a response that is not a problem. */
export const successHeaders = ({ isPublic, hasEtag }: { isPublic: boolean; hasEtag: boolean }): Json => ({
  ...(isPublic ? RESPONSE_HEADERS : KEYED_HEADERS),
  ...(hasEtag && headerRef("ETag")),
});

/** Problems that come before the API key is known. */
const BEFORE_KEY = new Set(["unauthenticated", "headers-too-large", "too-slow", "method-not-allowed"]);
const RETRY_AFTER: Record<string, Json> = {
  "rate-limited": headerRef("Retry-After"),
  unavailable: headerRef("Retry-After"),
  conflict: headerRef("Retry-After", "RetryAfterInProgress"),
};

/** Returns one response per kind of problem, by its code. */
export function problemResponses(): Json {
  return Object.fromEntries(
    Object.entries(PROBLEMS).map(([code, { title, meaning }]) => [
      code,
      {
        description: `${title}. ${meaning}`,
        headers: {
          ...(BEFORE_KEY.has(code) ? RESPONSE_HEADERS : KEYED_HEADERS),
          ...RETRY_AFTER[code],
          ...(code === "method-not-allowed" && headerRef("Allow")),
        },
        content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
      },
    ]),
  );
}
