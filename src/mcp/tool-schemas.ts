import { isPaged, queryParametersOf } from "../http/common-parameters.ts";
import type { AnyRoute } from "../http/route.ts";
import { splitList } from "../lib/lists.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { Shorten } from "./short-schema.ts";
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

/** Of a route that responds with nothing. */
const DONE_SCHEMA = { type: "object", properties: { done: { const: true } }, required: ["done"] };

/** Returns the schema of a tool's result: its route's response, shortened, of which nothing is required. */
export function outputOf(
  { response }: AnyRoute,
  { always = {} }: Pick<ToolSpec, "always">,
  shorten: Shorten,
): Json {
  if (!("schema" in response) || !response.schema) return DONE_SCHEMA;
  const row = shorten(without(response.schema as Json, splitList(String(always.exclude ?? ""))));
  return {
    type: "object",
    properties: {
      data: isPaged(response) ? { type: "array", items: row } : row,
      // What these say, the server's instructions say once for all tools.
      ...(isPaged(response) && { next_cursor: { type: ["string", "null"] } }),
      truncated: { type: "boolean" },
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

/** Returns a schema as plain JSON without `$id`, which only our validator reads; a property may be called so. */
function plain(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(plain);
  if (typeof schema !== "object" || schema === null) return schema;
  const named = (value: unknown) =>
    Object.fromEntries(Object.entries(value as Json).map(([name, part]) => [name, plain(part)]));
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([keyword]) => keyword !== "$id")
      .map(([keyword, value]) => [
        keyword,
        keyword === "properties" || keyword === "patternProperties" ? named(value) : plain(value),
      ]),
  );
}
