import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { routes } from "../../src/app.ts";
import { version } from "../../src/config.ts";
import { openapiDocument } from "../../src/http/openapi.ts";
import type { AnyRoute } from "../../src/http/route.ts";
import type { ApiAnswer } from "../support/api.ts";

interface Response {
  $ref?: string;
  headers?: Record<string, unknown>;
  content?: Record<string, { schema: object; example?: unknown }>;
}

interface Operation {
  operationId: string;
  summary: string;
  parameters: { name?: string; in?: string; required?: boolean; example?: unknown; $ref?: string }[];
  requestBody?: { required: boolean; content: Record<string, { schema: object; example?: unknown }> };
  responses: Record<string, Response>;
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { responses: Record<string, Response> };
}

/** The description that the routes give now. */
export const document = openapiDocument(routes, { version, serverUrl: "/v1" }) as unknown as Document &
  Record<string, unknown>;

export function operationOf(route: AnyRoute): Operation {
  const operation = document.paths[route.path]?.[route.method.toLowerCase()];
  if (!operation) throw new Error(`${route.id} is not described`);
  return operation;
}

/** The described answer of this status; undefined where the document knows none. */
export function responseOf(route: AnyRoute, status: number): Response | undefined {
  const response = operationOf(route).responses[status];
  const name = response?.$ref?.split("/").at(-1);
  return name ? document.components.responses[name] : response;
}

const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
addFormats.default(ajv);
ajv.addSchema(document, "document");

const pointer = (...steps: string[]) =>
  steps.map(step => encodeURIComponent(step.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/");

/** How an answer differs from what the document says of its status: empty when it fits. */
export function faultsOf(route: AnyRoute, answer: ApiAnswer<unknown>): string[] {
  const response = responseOf(route, answer.status);
  if (!response) return [`status ${answer.status} is not documented`];
  const faults = Object.keys(response.headers ?? {})
    .filter(name => !answer.headers.has(name))
    .map(name => `header ${name} is missing`);
  const type = answer.headers.get("content-type")?.split(";")[0] ?? "";
  if (!response.content)
    return answer.text === "" ? faults : [...faults, "has a body, and none is documented"];
  if (!response.content[type]) return [...faults, `content type ${type || "(none)"} is not documented`];
  if (!type.includes("json")) return faults;
  const reference = operationOf(route).responses[answer.status]?.$ref?.slice(2).split("/");
  const place = reference ?? [
    "paths",
    route.path,
    route.method.toLowerCase(),
    "responses",
    String(answer.status),
  ];
  const validate = ajv.compile({ $ref: `document#/${pointer(...place, "content", type, "schema")}` });
  if (validate(answer.body)) return faults;
  return [
    ...faults,
    ...(validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`),
  ];
}
