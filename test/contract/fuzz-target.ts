import { routes } from "../../src/app.ts";
import { rowIdCursor } from "../../src/http/common-parameters.ts";
import { shortPath } from "../../src/http/router.ts";
import { newId } from "../../src/lib/ids.ts";
import { openWorld } from "./open-world.ts";
import { thingOf } from "./requests.ts";
import { thing } from "./things.ts";

export interface FuzzTarget {
  documentUrl: string;
  apiKey: string;
  /** Settings of schemathesis, with ids of resources that exist, because it would never guess one. */
  config: string;
  stop(): Promise<void>;
}

/** Number of resources made for each endpoint. Once an endpoint has deleted them all, its ids are absent. */
const THINGS_EACH = 4;

/** Probability that an id is one of those; otherwise it is generated. */
const REAL_SHARE = 0.7;

/** Parameters that name a resource, with its kind (a key of THINGS). */
const NAMED: Record<string, string> = { emitter_id: "source", listener_id: "webhook" };

/** The checks of a response, each a promise of the OpenAPI document; with the statuses that reject invalid input. */
const CHECKS = `[checks]
enabled = false
not_a_server_error.enabled = true
status_code_conformance.enabled = true
content_type_conformance.enabled = true
response_headers_conformance.enabled = true
response_schema_conformance.enabled = true
unsupported_method.enabled = true
ignored_auth.enabled = true
negative_data_rejection.enabled = true
negative_data_rejection.expected-statuses = [400, 401, 403, 404, 405, 409, 413, 415, 429, 431]
`;

/** A stream of server-sent events never ends. */
const ENDLESS = `[[operations]]
include-operation-id = "watchSource"
request-timeout = 1
`;

/** GET at the path of a POST is a list, though the document does not have it. */
const SHORT_PATHS = routes
  .flatMap(route => shortPath(route, routes))
  .map(
    path =>
      `[[operations]]\ninclude-path = "${path}"\n[operations.checks.unsupported_method]\nenabled = false\n`,
  );

/** Starts a whole system with resources for `script/fuzz` to request. */
export async function startFuzzTarget(): Promise<FuzzTarget> {
  const world = await openWorld({ workers: true, env: { TIMEOUTS: "run:2s,hook:2s" } });
  const { system } = world;
  const api = await system.user();
  const orgId = await system.organization(api.userId);
  const make = async (what: string) => {
    const ids: string[] = [];
    for (let i = 0; i < THINGS_EACH; i++) {
      ids.push(await thing(what).make(world, i % 2 === 0 ? { api } : { api, orgId }));
    }
    return ids;
  };
  const operations: string[] = [];
  const dictionaries: string[] = [];
  for (const route of routes) {
    const parameters: Record<string, string[]> = {};
    const { access } = route;
    if (access.kind === "member") parameters["path.org_id"] = [orgId];
    if (access.kind === "resource") {
      parameters[`path.${access.param ?? "id"}`] = await make(thingOf(route) ?? "");
    }
    for (const name of Object.keys(route.query?.properties ?? {})) {
      if (NAMED[name]) parameters[`query.${name}`] = await make(NAMED[name]);
    }
    if (access.kind !== "public") parameters["query.org_id"] = [orgId];
    if (route.response.kind === "page") {
      const cursor = (route.response.cursor ?? rowIdCursor).encode(
        route.response.cursor ? "1700000000000-0" : newId("wh"),
      );
      parameters["query.after"] = parameters["query.before"] = [cursor];
    }
    const bindings = Object.entries(parameters).map(([name, ids]) => {
      const dictionary = `d${dictionaries.length}`;
      dictionaries.push(`[dictionaries.${dictionary}]\nvalues = ${JSON.stringify(ids)}\n`);
      return `${JSON.stringify(name)} = { dictionary = "${dictionary}", probability = ${REAL_SHARE} }`;
    });
    if (bindings.length === 0) continue;
    operations.push(
      `[[operations]]\ninclude-operation-id = "${route.id}"\nparameters = { ${bindings.join(", ")} }\n`,
    );
  }
  return {
    documentUrl: `${system.baseUrl}/openapi.json`,
    apiKey: api.apiKey,
    config: [CHECKS, ...dictionaries, ...operations, ...SHORT_PATHS, ENDLESS].join("\n"),
    stop: () => world.close(),
  };
}
