import { openapiDocument } from "./openapi.ts";
import { stream } from "./response.ts";
import { type AnyRoute, routeFor } from "./route.ts";

/** `GET /v1/openapi.json`: the description of all routes, this one too. */
export function openapiRoute(routes: readonly AnyRoute[], version: string): AnyRoute<unknown> {
  let text: string | undefined;
  const self: AnyRoute<unknown> = routeFor<unknown>()({
    method: "GET",
    path: "/openapi.json",
    id: "getOpenapi",
    tag: "Description",
    summary: "Read this description",
    access: { kind: "public" },
    response: stream("application/json"),
    example: {},
    handler: async (): Promise<string> => {
      text ??= JSON.stringify(openapiDocument([...routes, self], { version, serverUrl: "/v1" }));
      return text;
    },
  });
  return self;
}
