import { PROBLEMS } from "./problem.ts";

export type Json = { [key: string]: unknown };

/** Collects the schemas that have a name (`$id`, or else `title`) and puts references in their places. */
export interface SchemaCollection {
  /** The schema as it stands in an operation: a reference when it has a name. */
  use(schema: unknown): unknown;
  /** The named schemas, by name. */
  schemas: Json;
}

const nameOf = (schema: Json): string | undefined => {
  const name = [schema.$id, schema.title].find(text => typeof text === "string") as string | undefined;
  return name?.replaceAll(/[^A-Za-z0-9._-]/g, "");
};

/** Throws when two different schemas have one name: a reader of the document could not tell them apart. */
export function collectSchemas(): SchemaCollection {
  const schemas: Json = {};
  const use = (schema: unknown): unknown => {
    if (Array.isArray(schema)) return schema.map(use);
    if (typeof schema !== "object" || schema === null) return schema;
    const entries = Object.entries(schema as Json).filter(
      ([key, v]) => key !== "$id" || typeof v !== "string",
    );
    const inner = Object.fromEntries(entries.map(([key, value]) => [key, use(value)]));
    // Only a schema has a type or branches; `title` may as well be the name of a property.
    const isSchema = "type" in inner || "anyOf" in inner || "allOf" in inner || "enum" in inner;
    const name = isSchema ? nameOf(schema as Json) : undefined;
    if (!name) return inner;
    const known = schemas[name];
    if (known && JSON.stringify(known) !== JSON.stringify(inner))
      throw new Error(`two schemas are named ${name}`);
    schemas[name] = inner;
    return { $ref: `#/components/schemas/${name}` };
  };
  return { use, schemas };
}

const text = (description: string) => ({ type: "string", description });

/** The shapes of the envelopes' and the problems' own parts. */
export const FIXED_SCHEMAS: Json = {
  PageInfo: {
    type: "object",
    required: ["total_count", "count", "start_cursor", "end_cursor"],
    properties: {
      total_count: { type: "integer", description: "Items of the whole list." },
      count: { type: "integer", description: "Items of this page." },
      start_cursor: {
        type: ["string", "null"],
        description: "Cursor of the first item; null on an empty page.",
      },
      end_cursor: {
        type: ["string", "null"],
        description: "Cursor of the last item; null on an empty page.",
      },
    },
  },
  Problem: {
    type: "object",
    description: "An RFC 9457 problem.",
    required: ["type", "title", "status", "detail", "error"],
    properties: {
      type: text("Where this kind of problem is explained."),
      title: text("The kind of problem."),
      status: { type: "integer" },
      detail: text("What is wrong with this request."),
      error: text("The same as `detail`."),
      errors: {
        type: "array",
        items: {
          type: "object",
          required: ["in", "path", "message"],
          properties: {
            in: {
              type: "string",
              enum: ["path", "query", "body", "header", "component"],
              description: "Where it stood; `component`: what the component's code says or does.",
            },
            path: text("Such as `configured_props.timer`."),
            message: text("Such as `must be an integer`."),
          },
        },
      },
    },
  },
};

const header = (description: string, type = "integer") => ({ description, schema: { type } });

export const FIXED_HEADERS: Json = {
  "X-Request-Id": header("Names this request in the log; the request's own is taken over.", "string"),
  "Retry-After": header("Seconds after which the same request may succeed."),
};

const headerRef = (name: string) => ({ [name]: { $ref: `#/components/headers/${name}` } });

/** On every response. */
export const RESPONSE_HEADERS: Json = headerRef("X-Request-Id");

/** One response per kind of problem, named by its code. */
export function problemResponses(): Json {
  const isLater = (code: string) => code === "rate-limited" || code === "unavailable";
  return Object.fromEntries(
    Object.entries(PROBLEMS).map(([code, { title, meaning }]) => [
      code,
      {
        description: `${title}. ${meaning}`,
        headers: { ...RESPONSE_HEADERS, ...(isLater(code) && headerRef("Retry-After")) },
        content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
      },
    ]),
  );
}
