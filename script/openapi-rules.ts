/** What generators of clients, and people who read the reference, need of an OpenAPI document. */

interface Operation {
  operationId: string;
  description?: string;
  requestBody?: { content: Record<string, { example?: unknown }> };
  responses: Record<string, { content?: Record<string, { example?: unknown }> }>;
}

interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
  webhooks?: Record<string, Record<string, Operation>>;
  components: Record<string, Record<string, unknown>>;
}

const SHARED = ["schemas", "responses", "parameters", "headers"];

const pascal = (id: string): string => id.charAt(0).toUpperCase() + id.slice(1);

/** The types that generators make of an operation. */
const typesOf = ({ operationId }: Operation): string[] =>
  ["Params", "Request", "Response", "RequestBody", "JSONBody", "JSONRequestBody"].map(
    end => pascal(operationId) + end,
  );

/** Names of which a generated client would have two: Go's constructor of `Key` is `NewKey`. */
function clashingNames({ components }: OpenApi, operations: Operation[]): string[] {
  const schemas = Object.keys(components.schemas ?? {});
  const others = [
    ...Object.keys(components.securitySchemes ?? {}),
    ...schemas.map(name => `New${name}`),
    ...operations.flatMap(typesOf),
  ];
  const seen = new Set(others.map(name => name.toLowerCase()));
  const twice = schemas.filter((name, i) =>
    schemas.some((other, at) => at < i && other.toLowerCase() === name.toLowerCase()),
  );
  return [...schemas.filter(name => seen.has(name.toLowerCase())), ...twice].map(
    name => `schema ${name}: generated clients have another type or function of this name`,
  );
}

/** Returns the paths of constants that are true or false, for which generators write code that does not compile. */
function constantBooleans(value: unknown, path = ""): string[] {
  if (typeof value !== "object" || value === null) return [];
  const { const: one, enum: several, type } = value as { const?: unknown; enum?: unknown; type?: unknown };
  const isSchema = type !== undefined;
  const isConstant =
    typeof one === "boolean" ||
    (isSchema && Array.isArray(several) && several.some(each => typeof each === "boolean"));
  const here = isConstant ? [`${path}: a constant that is true or false`] : [];
  return [
    ...here,
    ...Object.entries(value).flatMap(([key, inner]) => constantBooleans(inner, `${path}/${key}`)),
  ];
}

function unusedComponents(document: OpenApi): string[] {
  const text = JSON.stringify(document);
  return SHARED.flatMap(kind =>
    Object.keys(document.components[kind] ?? {})
      .filter(name => !text.includes(`"#/components/${kind}/${name}"`))
      .map(name => `${kind} ${name}: is not used`),
  );
}

function faultsOfOperation({ operationId, description, requestBody, responses }: Operation): string[] {
  const successes = Object.entries(responses).filter(([status]) => status.startsWith("2"));
  const contents = successes.flatMap(([, { content = {} }]) => Object.values(content));
  return [
    ...(description ? [] : ["has no description"]),
    ...(Object.values(requestBody?.content ?? {}).every(one => "example" in one)
      ? []
      : ["its body has no example"]),
    ...(contents.every(one => "example" in one) ? [] : ["its response has no example"]),
  ].map(fault => `${operationId}: ${fault}`);
}

/** Returns what is wrong with an OpenAPI document, one line each. */
export function openapiFaults(given: object): string[] {
  const document = given as OpenApi;
  const items = [document.paths, document.webhooks ?? {}].flatMap(group => Object.values(group));
  const operations = items.flatMap(item => Object.values(item));
  return [
    ...(Object.keys(document.webhooks ?? {}).length > 0 ? [] : ["the document has no webhooks"]),
    ...clashingNames(document, operations),
    ...constantBooleans(document.components.schemas, "schemas"),
    ...constantBooleans(document.paths, "paths"),
    ...unusedComponents(document),
    ...operations.flatMap(faultsOfOperation),
  ];
}
