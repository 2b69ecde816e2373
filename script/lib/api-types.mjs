import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Written here, and kept out of git: it is never older than openapi.json. */
const OUTPUT = "clients/typescript/src/schema.ts";

/** Every route takes them; the client uses `org_id` only. */
const UNUSED = new Set(["include", "exclude"]);

/**
 * Writes the types of openapi.json for the client. By hand, because openapi-typescript 7 needs the compiler API of TypeScript 5
 * (docs/decisions/0029-client.md).
 */
export function writeApiTypes(root) {
  replace(join(root, OUTPUT), typesOf(JSON.parse(readFileSync(join(root, "openapi.json"), "utf8"))));
}

/** Somebody may be reading it. */
function replace(file, text) {
  if (!existsSync(file) || readFileSync(file, "utf8") !== text) writeFileSync(file, text);
}

function typesOf({ paths, components }) {
  const names = Object.keys(components.schemas);
  const schemas = Object.entries(components.schemas).map(namedType);
  const operations = Object.entries(paths).map(
    ([path, item]) => `  ${JSON.stringify(path)}: {\n${methodsOf(item)}\n  };`,
  );
  return `// Generated from openapi.json by script/lib/api-types.mjs.
interface Failure {
  headers: { [name: string]: unknown };
  content: { "application/problem+json": Problem };
}
${schemas.join("\n")}
export interface components {
  schemas: {
${names.map(name => `    ${name}: ${name};`).join("\n")}
  };
}
export interface paths {
${operations.join("\n")}
}
`;
}

/** A type with a name, which editors show in place of its fields. */
function namedType([name, schema]) {
  const type = typeOf(schema);
  const isObject = type.startsWith("{");
  return `${comment(schema.description)}export ${isObject ? `interface ${name} ${type}` : `type ${name} = ${type};`}`;
}

/** What editors show; on a line of its own, because behind other code on its line a comment belongs to nothing. */
const comment = text => (text ? `\n/** ${text.replaceAll("*/", "*\\/").replaceAll("\n", " ")} */\n` : "");

function methodsOf(item) {
  return ["get", "post", "put", "delete"]
    .filter(method => item[method])
    .map(method => `${comment(item[method].summary)}${method}: ${operationType(item[method])};`)
    .join("\n");
}

function operationType({ parameters = [], requestBody, responses }) {
  const ofPlace = place => parameters.filter(one => one.in === place && !UNUSED.has(one.name));
  const places = ["query", "path"].map(place => {
    const fields = ofPlace(place).map(field);
    return fields.length === 0
      ? `${place}?: never`
      : `${place}${place === "path" ? "" : "?"}: { ${fields.join(";\n")} }`;
  });
  // Other bodies, such as a string of code, have no typed client.
  const body = requestBody?.content?.["application/json"]?.schema;
  const bodyType = body
    ? `requestBody?: { content: { "application/json": ${typeOf(body)} } }`
    : "requestBody?: never";
  const results = Object.entries(responses).map(([status, response]) => {
    const key = /^\d+$/.test(status) ? status : `"default"`;
    // Responses that are shared are problems, all of one shape.
    if (response.$ref) return `${key}: Failure`;
    const content = Object.entries(response.content ?? {}).map(
      ([type, { schema }]) => `${JSON.stringify(type)}: ${typeOf(schema ?? {})}`,
    );
    return `${key}: { headers: { [name: string]: unknown }; content: ${content.length > 0 ? `{ ${content.join("; ")} }` : '{ "text/plain"?: never }'} }`;
  });
  return `{ parameters: { ${places.join("; ")} }; ${bodyType}; responses: { ${results.join("; ")} } }`;
}

const field = ({ name, required, schema, description = schema?.description }) =>
  `${comment(description)}${JSON.stringify(name)}${required ? "" : "?"}: ${typeOf(schema ?? {})}`;

function typeOf(schema) {
  if (schema.$ref) return schema.$ref.split("/").pop();
  // With properties of its own, its alternatives only say which of them are required.
  if ((schema.anyOf || schema.oneOf) && !schema.properties)
    return unionOf((schema.anyOf ?? schema.oneOf).map(typeOf));
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
    return `{ ${[...fields, ...(isOpen ? ["[name: string]: unknown"] : [])].join(";\n")} }`;
  const values =
    additionalProperties && typeof additionalProperties === "object"
      ? typeOf(additionalProperties)
      : "unknown";
  return `Record<string, ${values}>`;
}

// `npm run typecheck`
if (process.argv[1] === fileURLToPath(import.meta.url))
  writeApiTypes(fileURLToPath(new URL("../..", import.meta.url)));
