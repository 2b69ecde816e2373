import { keyAccessFor, roleFor } from "../../src/http/authorize.ts";
import type { AnyRoute } from "../../src/http/route.ts";

/** What decides how a route reads a request and shows a list, besides its own parameters and fields. */
function kindOf({ method, access, response, body, query, maxBodyBytes, requiresOneOf }: AnyRoute): string {
  const has = [body, query, maxBodyBytes, requiresOneOf]
    .map(part => (part === undefined ? "-" : "+"))
    .join("");
  const cursors = "cursor" in response ? "own cursors" : "";
  return `${method} ${access.kind} ${response.kind} ${has} ${cursors}`;
}

/** What decides who may call a route: its rule, whether it reads or changes something, and the resources that a request names. */
function accessOf(route: AnyRoute): string {
  const { method, access, query, body } = route;
  const names = [query, body].flatMap(part => Object.keys(part?.properties ?? {}));
  return JSON.stringify([
    method === "GET",
    access,
    roleFor(route),
    keyAccessFor(route),
    names.filter(name => name.endsWith("_id")).sort(),
  ]);
}

function firstOfEach(routes: readonly AnyRoute[], keyOf: (route: AnyRoute) => string): AnyRoute[] {
  const found = new Map<string, AnyRoute>();
  for (const route of routes) if (!found.has(keyOf(route))) found.set(keyOf(route), route);
  return [...found.values()];
}

/** Returns the first route of each kind, in their order. */
export const oneOfEachKind = (routes: readonly AnyRoute[]): AnyRoute[] => firstOfEach(routes, kindOf);

/** Returns the first route with each access rule, in their order. */
export const oneOfEachAccess = (routes: readonly AnyRoute[]): AnyRoute[] => firstOfEach(routes, accessOf);
