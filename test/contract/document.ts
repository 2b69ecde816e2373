import type { ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { routes } from "../../src/app.ts";
import { openapiDocument } from "../../src/http/openapi.ts";
import type { AnyRoute } from "../../src/http/route.ts";
import { version } from "../../src/lib/versions.ts";
import type { ApiResponse } from "../support/api.ts";

interface DocumentedResponse {
  $ref?: string;
  headers?: Record<string, { $ref: string }>;
  content?: Record<string, { schema: object; example?: unknown }>;
}

interface Operation {
  operationId: string;
  summary: string;
  parameters: { name?: string; in?: string; required?: boolean; example?: unknown; $ref?: string }[];
  requestBody?: { required: boolean; content: Record<string, { schema: object; example?: unknown }> };
  responses: Record<string, DocumentedResponse>;
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: {
    responses: Record<string, DocumentedResponse>;
    headers: Record<string, { required: boolean }>;
  };
}

/** The OpenAPI document of the routes. */
export const document = openapiDocument(routes, { version, serverUrl: "/v1" }) as unknown as Document &
  Record<string, unknown>;

export function operationOf(route: AnyRoute): Operation {
  const operation = document.paths[route.path]?.[route.method.toLowerCase()];
  if (!operation) throw new Error(`${route.id} is not documented`);
  return operation;
}

/** Returns the documented response with this status, or undefined. */
export function responseOf(route: AnyRoute, status: number): DocumentedResponse | undefined {
  const response = operationOf(route).responses[status];
  const name = response?.$ref?.split("/").at(-1);
  return name ? document.components.responses[name] : response;
}

const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
addFormats.default(ajv);
ajv.addSchema(document, "document");

const pointer = (...steps: string[]) =>
  steps.map(step => encodeURIComponent(step.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/");

/** By reference: to compile one takes longer than the request that it checks. */
const validators = new Map<string, ValidateFunction>();

function validatorOf($ref: string): ValidateFunction {
  const validate = validators.get($ref) ?? ajv.compile({ $ref });
  validators.set($ref, validate);
  return validate;
}

/** Returns how a response differs from the documented one with its status; empty if it matches. */
export function faultsOf(route: AnyRoute, response: ApiResponse<unknown>): string[] {
  const documented = responseOf(route, response.status);
  if (!documented) return [`status ${response.status} is not documented`];
  const faults = Object.entries(documented.headers ?? {})
    .filter(([, { $ref }]) => document.components.headers[$ref.split("/").at(-1) ?? ""]?.required)
    .map(([name]) => name)
    .filter(name => !response.headers.has(name))
    .map(name => `header ${name} is missing`);
  const type = response.headers.get("content-type")?.split(";")[0] ?? "";
  if (!documented.content) {
    return response.text === "" ? faults : [...faults, "the response has a body, and none is documented"];
  }
  if (!documented.content[type]) return [...faults, `content type ${type || "(none)"} is not documented`];
  if (!type.includes("json")) return faults;
  const reference = operationOf(route).responses[response.status]?.$ref?.slice(2).split("/");
  const location = reference ?? [
    "paths",
    route.path,
    route.method.toLowerCase(),
    "responses",
    String(response.status),
  ];
  const validate = validatorOf(`document#/${pointer(...location, "content", type, "schema")}`);
  if (validate(response.body)) return faults;
  return [
    ...faults,
    ...(validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`),
  ];
}
