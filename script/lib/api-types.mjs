import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Written here, and kept out of git: it is never older than openapi.json. */
const OUTPUT = "dashboard/api/schema.d.ts";

/** Every route takes them; the dashboard uses `org_id` only. */
const UNUSED = new Set(["include", "exclude"]);

/**
 * Writes the types of openapi.json in the shape that openapi-fetch reads. By hand, because openapi-typescript 7 needs the
 * compiler API of TypeScript 5 (docs/decisions/0026-dashboard.md).
 */
export function writeApiTypes(root) {
  const { paths, components } = JSON.parse(readFileSync(join(root, "openapi.json"), "utf8"));
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) => `    ${name}: ${typeOf(schema)};`,
  );
  const operations = Object.entries(paths).map(
    ([path, item]) => `  ${JSON.stringify(path)}: {\n${methodsOf(item)}\n  };`,
  );
  const text = `// Generated from openapi.json by script/lib/api-types.mjs.
export interface components {
  schemas: {
${schemas.join("\n")}
  };
}
export interface paths {
${operations.join("\n")}
}
`;
  writeFileSync(join(root, OUTPUT), text);
}

function methodsOf(item) {
  return ["get", "post", "put", "delete"]
    .filter(method => item[method])
    .map(method => `    ${method}: ${operationType(item[method])};`)
    .join("\n");
}

function operationType({ parameters = [], requestBody, responses }) {
  const ofPlace = place => parameters.filter(one => one.in === place && !UNUSED.has(one.name));
  const places = ["query", "path"].map(place => {
    const fields = ofPlace(place).map(field);
    return fields.length === 0
      ? `${place}?: never`
      : `${place}${place === "path" ? "" : "?"}: { ${fields.join("; ")} }`;
  });
  // Other bodies, such as a string of code, have no typed client.
  const body = requestBody?.content?.["application/json"]?.schema;
  const bodyType = body
    ? `requestBody?: { content: { "application/json": ${typeOf(body)} } }`
    : "requestBody?: never";
  const results = Object.entries(responses).map(([status, response]) => {
    const content = Object.entries(resolve(response).content ?? {}).map(
      ([type, { schema }]) => `${JSON.stringify(type)}: ${typeOf(schema ?? {})}`,
    );
    const key = /^\d+$/.test(status) ? status : `"default"`;
    return `${key}: { headers: { [name: string]: unknown }; content: ${content.length > 0 ? `{ ${content.join("; ")} }` : '{ "text/plain"?: never }'} }`;
  });
  return `{ parameters: { ${places.join("; ")} }; ${bodyType}; responses: { ${results.join("; ")} } }`;
}

/** Responses that are shared are problems, all of one shape. */
const resolve = response =>
  response.$ref
    ? { content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } } }
    : response;

const field = ({ name, required, schema }) =>
  `${JSON.stringify(name)}${required ? "" : "?"}: ${typeOf(schema ?? {})}`;

function typeOf(schema) {
  if (schema.$ref) return `components["schemas"]["${schema.$ref.split("/").pop()}"]`;
  if (schema.anyOf || schema.oneOf) return unionOf((schema.anyOf ?? schema.oneOf).map(typeOf));
  if (schema.allOf) return schema.allOf.map(typeOf).join(" & ");
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum) return unionOf(schema.enum.map(value => JSON.stringify(value)));
  if (Array.isArray(schema.type)) return unionOf(schema.type.map(type => typeOf({ ...schema, type })));
  switch (schema.type) {
    case "integer":
    case "number":
      return "number";
    case "string":
    case "boolean":
    case "null":
      return schema.type;
    case "array":
      return `(${typeOf(schema.items ?? {})})[]`;
    case "object":
      return objectType(schema);
    default:
      return schema.properties ? objectType(schema) : "unknown";
  }
}

const unionOf = types => `(${[...new Set(types)].join(" | ")})`;

function objectType({ properties = {}, required = [], additionalProperties }) {
  const fields = Object.entries(properties)
    .filter(([name]) => !UNUSED.has(name))
    .map(([name, schema]) => field({ name, schema, required: required.includes(name) }));
  const isOpen = additionalProperties === true || typeof additionalProperties === "object";
  if (fields.length > 0)
    return `{ ${[...fields, ...(isOpen ? ["[name: string]: unknown"] : [])].join("; ")} }`;
  const values =
    additionalProperties && typeof additionalProperties === "object"
      ? typeOf(additionalProperties)
      : "unknown";
  return `Record<string, ${values}>`;
}

// `npm run typecheck`
if (process.argv[1] === fileURLToPath(import.meta.url))
  writeApiTypes(fileURLToPath(new URL("../..", import.meta.url)));
