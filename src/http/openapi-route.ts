import { openapiDocument } from "./openapi.ts";
import { type AnyRoute, routeFor, stream } from "./route.ts";

/** Returns the route `GET /v1/openapi.json`, which serves the OpenAPI document of all routes, including itself. */
export function openapiRoute(routes: readonly AnyRoute[], version: string): AnyRoute<unknown> {
  let text: string | undefined;
  const self: AnyRoute<unknown> = routeFor<unknown>()({
    method: "GET",
    path: "/openapi.json",
    id: "getOpenapi",
    tag: "Description",
    summary: "Get this OpenAPI document",
    description: "OpenAPI 3.1, the document that the reference at `/docs` shows.",
    access: { kind: "public" },
    response: stream("application/json"),
    example: { response: { openapi: "3.1.0", info: { title: "Headwater", version }, paths: {} } },
    handler: async (): Promise<string> => {
      text ??= JSON.stringify(openapiDocument([...routes, self], { version, serverUrl: "/v1" }));
      return text;
    },
  });
  return self;
}
