import type { TSchema } from "typebox";
import { isPaged, queryParametersOf } from "../http/common-parameters.ts";
import type { AnyRoute } from "../http/route.ts";
import { splitList } from "../lib/lists.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { ToolSpec } from "./tool-table.ts";

type Json = Record<string, unknown>;

/** The schema of a tool's arguments. */
export interface InputSchema {
  type: "object";
  properties: Json;
  required: string[];
  additionalProperties: false;
}

/** The arguments of a tool, and which parameters of its route they are. */
interface ToolInput {
  schema: InputSchema;
  parameterOf: (argument: string) => string;
  inPath: (parameter: string) => boolean;
}

/** Parameters of every route that a tool does not offer: it says itself which fields, pages and accounts it shows. */
const NOT_OFFERED = ["include", "exclude", "org_id", "before"];

const ROWS = LIMITS.toolRows.value;
const PAGING: Json = {
  limit: { type: "integer", minimum: 1, maximum: ROWS, default: ROWS, description: "Rows of a page." },
  after: { type: "string", description: "next_cursor of the page before." },
};

/** Returns the arguments of a tool from what its route declares. A resource of the path is called what it is: `source`. */
export function inputOf(
  route: AnyRoute,
  { always = {}, takes, requires = [], says = {} }: Pick<ToolSpec, "always" | "takes" | "requires" | "says">,
): ToolInput {
  const { access } = route;
  const inPath = new Set([...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name));
  const argumentOf = (parameter: string) => {
    if (parameter === "after") return "cursor";
    return access.kind === "resource" && parameter === (access.param ?? "id") ? access.what : parameter;
  };
  const query = queryParametersOf(route);
  const body = route.body ?? { properties: {}, required: [] };
  const declared: Json = {
    ...Object.fromEntries(
      [...inPath].map(name => [name, route.params?.properties[name] ?? { type: "string", minLength: 1 }]),
    ),
    ...query.properties,
    ...body.properties,
    ...(isPaged(route.response) && PAGING),
  };
  const offered = Object.entries(declared).filter(
    ([name]) =>
      !NOT_OFFERED.includes(name) &&
      !(name in always) &&
      (takes === undefined || takes.includes(name) || inPath.has(name)),
  );
  const required = [...inPath, ...(query.required ?? []), ...(body.required ?? []), ...requires];
  const parameters = new Map(offered.map(([name]) => [argumentOf(name), name]));
  return {
    schema: {
      type: "object",
      properties: Object.fromEntries(
        offered.map(([name, schema]) => [argumentOf(name), says[name] ?? plain(schema)]),
      ),
      required: required.map(argumentOf),
      additionalProperties: false,
    },
    parameterOf: name => parameters.get(name) ?? name,
    inPath: name => inPath.has(name),
  };
}

/**
 * Keywords that hold for what a route responds with, and not for what is left of it once it is cut to fit. `$id` is for
 * our own validator.
 */
const ONLY_WHOLE = new Set([
  ...["$id", "required", "default", "examples", "format", "pattern", "minLength", "maxLength"],
  ...["minItems", "maxItems", "minProperties", "maxProperties", "minimum", "maximum"],
]);

/** Of a route that responds with nothing. */
const DONE_SCHEMA = { type: "object", properties: { done: { const: true } }, required: ["done"] };

/** Returns the schema of a tool's result: its route's response, of which nothing is required. */
export function outputOf({ response }: AnyRoute, { always = {} }: Pick<ToolSpec, "always">): Json {
  if (!("schema" in response) || !response.schema) return DONE_SCHEMA;
  const row = without(relaxed(response.schema) as Json, splitList(String(always.exclude ?? "")));
  return {
    type: "object",
    properties: {
      data: isPaged(response) ? { type: "array", items: row } : row,
      ...(isPaged(response) && {
        next_cursor: {
          type: ["string", "null"],
          description: "`cursor` of the next page; null on the last.",
        },
      }),
      truncated: { type: "boolean", description: "Long texts and lists were cut." },
      notice: { type: "string" },
    },
    required: ["data"],
  };
}

function without({ properties, ...schema }: Json, names: string[]): Json {
  if (properties === undefined) return schema;
  const left = Object.entries(properties as Json).filter(([name]) => !names.includes(name));
  return { ...schema, properties: Object.fromEntries(left) };
}

/** Returns a schema as plain JSON without what only our validator reads. */
const plain = (schema: unknown): unknown => copied(schema, new Set(["$id"]));
const relaxed = (schema: TSchema): unknown => copied(schema, ONLY_WHOLE);

/** Copies a schema without these keywords; a property may be called as one of them. */
function copied(schema: unknown, dropped: ReadonlySet<string>): unknown {
  if (Array.isArray(schema)) return schema.map(part => copied(part, dropped));
  if (typeof schema !== "object" || schema === null) return schema;
  const named = (value: unknown) =>
    Object.fromEntries(Object.entries(value as Json).map(([name, part]) => [name, copied(part, dropped)]));
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([keyword]) => !dropped.has(keyword))
      .map(([keyword, value]) => [
        keyword,
        keyword === "properties" || keyword === "patternProperties" ? named(value) : copied(value, dropped),
      ]),
  );
}
