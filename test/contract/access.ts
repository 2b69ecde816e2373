import { expect } from "chai";
import { createApiKey, revokeApiKey } from "../../src/accounts/api-keys.ts";
import { setOperator } from "../../src/accounts/operators.ts";
import { addMember } from "../../src/accounts/organizations.ts";
import { keyAccessFor, roleFor } from "../../src/http/authorize.ts";
import { PROBLEMS } from "../../src/http/problem.ts";
import type { AnyRoute } from "../../src/http/route.ts";
import { newId } from "../../src/lib/ids.ts";
import { KEY_ACCESS, type KeyAccess } from "../../src/lib/key-access.ts";
import { type Role, suffices } from "../../src/lib/roles.ts";
import { Api, type ApiResponse, type Problem } from "../support/api.ts";
import { faultsOf } from "./document.ts";
import { openWorld } from "./open-world.ts";
import { type ExampleRequest, exampleRequest, send, thingOf } from "./requests.ts";
import { type Owner, thing } from "./things.ts";

type User = Owner["api"];

/**
 * Parameters and fields that name a resource, with the kinds of resources (keys of THINGS) that they may name. A new
 * parameter is added here, so that it is tested with the resources of other accounts, or to NO_REFERENCE.
 */
export const REFERENCES: Record<string, string[]> = {
  component_id: ["component"],
  emitter_id: ["source", "workflow"],
  listener_id: ["webhook", "destination", "source", "workflow"],
  webhook_id: ["webhook", "destination"],
  issue_id: ["issue"],
};
/**
 * Only an operator names another account's owner. An event and a subscription select among the caller's own deliveries, which may have come by another account's, or by one that ended;
 * an actor and a thing among the entries of the caller's own audit log, which outlive them.
 */
export const NO_REFERENCE = new Set([
  ...["org_id", "owner_id", "start_id", "end_id", "dynamic_props_id"],
  ...["event_id", "subscription_id"],
  ...["actor_id", "thing_id"],
]);

/** Everybody may leave, but the example removes somebody else. */
const neededBy = (route: AnyRoute): Role => (route.id === "removeMember" ? "owner" : roleFor(route));

export const fieldsOf = (route: AnyRoute) => [
  ...Object.keys(route.query?.properties ?? {}).map(name => ({ name, location: "query" as const })),
  ...Object.keys(route.body?.properties ?? {}).map(name => ({ name, location: "body" as const })),
];

/**
 * Anna owns the organization `red`, where Bert is a member and Vera a viewer. Carla owns the organization `blue`. Olga is an
 * operator.
 */
interface Cast {
  anna: User;
  bert: User;
  vera: User;
  carla: User;
  olga: User;
  red: string;
  blue: string;
  /** Has no API key. */
  anonymous: Api;
  /** Have Carla's API keys, by what these may do. */
  carlas: Record<KeyAccess, Api>;
  /** Has a revoked API key. */
  revoked: Api;
  /** Has an API key that never existed. */
  unknown: Api;
}

/** Tests who may call these routes, and for what (docs/rest-api.md#organizations). */
export function testAccess(routes: readonly AnyRoute[]): void {
  let world: Awaited<ReturnType<typeof openWorld>>;
  let cast: Cast;

  before(async () => {
    world = await openWorld();
    const { system } = world;
    const [anna, bert, vera] = [await system.user(), await system.user(), await system.user()];
    const [carla, olga] = [await system.user(), await system.user()];
    const [red, blue] = [await system.organization(anna.userId), await system.organization(carla.userId)];
    await addMember(system.worker, red, bert.userId);
    await addMember(system.worker, red, vera.userId, "viewer");
    await setOperator(system.worker, olga.userId, true);
    const key = await createApiKey(system.worker, carla.userId);
    await revokeApiKey(system.worker, key.id);
    const keyed = (apiKey: string) => new Api(system.baseUrl, apiKey);
    const ofAccess = async (access: KeyAccess) =>
      [access, keyed((await carla.expect(201, "POST", "/api_keys", { body: { access } })).api_key)] as const;
    const carlas = Object.fromEntries(await Promise.all(KEY_ACCESS.map(ofAccess))) as Cast["carlas"];
    cast = {
      carlas,
      ...{ anna, bert, vera, carla, olga, red, blue, anonymous: keyed("") },
      ...{ revoked: keyed(key.api_key), unknown: keyed(`hw_${"x".repeat(32)}`) },
    };
  });
  after(() => world.close());

  const isSuccess = (route: AnyRoute, response: ApiResponse<unknown>, who: string) => {
    expect(response.status, `${who}: ${response.text}`).to.equal(route.response.status);
    expect(faultsOf(route, response), who).to.deep.equal([]);
  };

  const isProblem = (
    route: AnyRoute,
    response: ApiResponse<Problem>,
    code: keyof typeof PROBLEMS,
    who: string,
  ) => {
    const { status, title } = PROBLEMS[code];
    expect(response.status, `${who}: ${response.text}`).to.equal(status);
    expect(faultsOf(route, response), who).to.deep.equal([]);
    const { detail, error } = response.body;
    expect(response.body, who).to.include({ type: `/docs/errors#${code}`, title, status });
    expect(detail, who).to.be.a("string").and.not.equal("");
    expect(error, who).to.equal(detail);
    if (status === 401) expect(response.headers.get("www-authenticate")).to.match(/^Bearer /);
  };

  /** That a member whose role does not suffice is told the one that does, and one whose role does is served. */
  const isServedBy = (route: AnyRoute, response: ApiResponse<unknown>, role: Role) => {
    const needed = neededBy(route);
    if (suffices(role, needed)) return isSuccess(route, response, `the ${role}`);
    isProblem(route, response as ApiResponse<Problem>, "forbidden", `the ${role}`);
    expect((response as ApiResponse<Problem>).body.detail).to.include(`role ${needed}`);
  };

  /** Returns the request with `org_id`, in the query string or in the body. */
  const inOrg = (request: ExampleRequest, org_id: string, location: "query" | "body" = "query") =>
    location === "query"
      ? { ...request, query: { ...request.query, org_id } }
      : { ...request, body: { ...request.body, org_id } };

  const foreignIds = new Map<string, Promise<string>>();
  /** One resource of each kind and account for all requests that name it and are rejected. */
  const foreign = (what: string, owner: Owner) => {
    const key = `${what} of ${owner.orgId ?? owner.api.userId}`;
    const id = foreignIds.get(key) ?? thing(what).make(world, owner);
    foreignIds.set(key, id);
    return id;
  };

  for (const route of routes) {
    describe(`${route.method} ${route.path}`, () => {
      const { kind } = route.access;
      const owner = (api: User): Owner => (kind === "member" ? { api, orgId: cast.red } : { api });
      let rejected: Promise<ExampleRequest> | undefined;
      /** Carla's request, for tests that have it rejected: the resources that it names stay as they are. */
      const ofCarla = () => {
        const api = cast.carla;
        rejected ??= exampleRequest(world, route, kind === "member" ? { api, orgId: cast.blue } : { api });
        return rejected;
      };

      if (kind === "public") {
        it("responds to everybody, with any API key", async () => {
          const request = await exampleRequest(world, route, { api: cast.anna });
          for (const api of [cast.anonymous, cast.unknown, cast.anna]) {
            isSuccess(route, await send(api, route, request), api.apiKey);
          }
        });
        return;
      }

      it("rejects a missing, malformed, unknown or revoked API key", async () => {
        const request = await ofCarla();
        const tries = { "no key": cast.anonymous, "unknown key": cast.unknown, "revoked key": cast.revoked };
        for (const [who, api] of Object.entries(tries)) {
          isProblem(route, await send(api, route, request), "unauthenticated", who);
        }
        const { apiKey } = cast.carla;
        for (const header of [
          apiKey,
          `Basic ${apiKey}`,
          "Bearer",
          `Bearer ${apiKey} x`,
          `Bearer ${apiKey}x`,
        ]) {
          const response = await send(cast.anonymous, route, request, { authorization: header });
          isProblem(route, response, "unauthenticated", header.replace(apiKey, "<key>"));
        }
      });

      it("responds to API keys that are made for it, and 403 to others, which are told what is needed", async () => {
        const request = await ofCarla();
        const needed = keyAccessFor(route);
        for (const access of KEY_ACCESS.filter(one => one !== "full")) {
          const response = await send(cast.carlas[access], route, request);
          if (access === needed) isSuccess(route, response, access);
          else {
            isProblem(route, response, "forbidden", access);
            expect(response.body.detail).to.include(`the access ${needed}; this one has ${access}`);
          }
        }
      });

      if (kind === "caller" || kind === "owner") {
        it("responds to a caller in the caller's own account", async () => {
          const request = await exampleRequest(world, route, { api: cast.carla });
          isSuccess(route, await send(cast.carla, route, request), "carla");
        });

        it("responds to members in their organization, and 404 to everybody else", async () => {
          for (const api of [cast.anna, cast.bert]) {
            const request = await exampleRequest(world, route, { api, orgId: cast.red });
            isSuccess(route, await send(api, route, inOrg(request, cast.red)), "a member");
          }
          // What a viewer's request names in the organization was made by a member.
          const named = kind === "caller" ? { api: cast.vera } : { api: cast.anna, orgId: cast.red };
          const asked = inOrg(await exampleRequest(world, route, named), cast.red);
          isServedBy(route, await send(cast.vera, route, asked), "viewer");
          const request = await ofCarla();
          const absent = await send(cast.carla, route, inOrg(request, newId("o")));
          isProblem(route, absent, "not-found", "absent organization");
          for (const location of route.method === "GET"
            ? ["query" as const]
            : ["query" as const, "body" as const]) {
            const foreign = await send(cast.carla, route, inOrg(request, cast.red, location));
            isProblem(route, foreign, "not-found", `foreign organization in the ${location}`);
            expect(foreign.body).to.deep.equal(absent.body);
          }
        });
      } else if (kind === "operator") {
        it("responds to operators, and 403 to everybody else", async () => {
          const request = await exampleRequest(world, route, { api: cast.olga });
          isSuccess(route, await send(cast.olga, route, request), "an operator");
          isProblem(route, await send(cast.anna, route, request), "forbidden", "an owner");
        });
      } else if (kind === "member") {
        it("responds to members, and 404 to everybody else", async () => {
          const request = await exampleRequest(world, route, owner(cast.anna));
          isSuccess(route, await send(cast.anna, route, request), "the owner");
          isServedBy(route, await send(cast.bert, route, request), "member");
          isServedBy(route, await send(cast.vera, route, request), "viewer");
          const foreign = await send(cast.carla, route, request);
          isProblem(route, foreign, "not-found", "not a member");
          const absent = await exampleRequest(world, route, { api: cast.anna, orgId: newId("o") });
          expect((await send(cast.carla, route, absent)).body).to.deep.equal(foreign.body);
        });

        it("rejects a second organization", async () => {
          const request = await ofCarla();
          const foreign = await send(cast.carla, route, inOrg(request, cast.red));
          isProblem(route, foreign, "not-found", "foreign organization in the query");
          const own = await world.system.organization(cast.carla.userId);
          const both = await send(cast.carla, route, inOrg(request, own));
          isProblem(route, both, "invalid", "two organizations of one member");
        });
      } else if (kind === "resource") {
        it("responds to the owner of the resource, and 404 to everybody else", async () => {
          const { make, isPublic, isPersonal } = thing(thingOf(route) ?? "");
          const personal = await make(world, { api: cast.anna });
          const shared = isPersonal ? null : await make(world, { api: cast.anna, orgId: cast.red });
          /** Sends the request for this resource; all other ids in it are the sender's own. */
          const as = async (api: User, id: string, orgId?: string) => {
            const request = await exampleRequest(world, route, { api }, id);
            return send(api, route, orgId ? inOrg(request, orgId) : request);
          };
          if (!isPublic) {
            const foreign: [string, User, string, string?][] = [
              ["another user's", cast.carla, personal],
              ["another member's own", cast.bert, personal],
              ["another member's own, in the organization", cast.bert, personal, cast.red],
              ["the caller's own, in an organization", cast.anna, personal, cast.red],
            ];
            if (shared !== null) {
              foreign.push(["another organization's", cast.carla, shared]);
              foreign.push(["another organization's, from the caller's own", cast.carla, shared, cast.blue]);
            }
            const absent = await as(
              cast.carla,
              thing(thingOf(route) ?? "").prefix ? newId(prefixOf(route)) : "x",
            );
            for (const [what, api, id, orgId] of foreign) {
              const response = await as(api, id, orgId);
              isProblem(route, response, "not-found", what);
              expect(response.body, what).to.deep.equal(absent.body);
            }
            const orgOnly = await as(cast.carla, shared ?? personal, cast.red);
            isProblem(route, orgOnly, "not-found", "with org_id");
          }
          // Last, because the route may delete the resource. No org_id is needed (docs/rest-api.md#organizations).
          isSuccess(route, await as(cast.anna, personal), "its owner");
          if (shared === null) return;
          if (!isPublic) {
            const request = await exampleRequest(world, route, { api: cast.anna, orgId: cast.red }, shared);
            isServedBy(route, await send(cast.vera, route, request), "viewer");
            isServedBy(route, await send(cast.vera, route, inOrg(request, cast.red)), "viewer");
          }
          isSuccess(route, await as(cast.bert, shared), "a member of the owning organization");
          if (isPublic) isSuccess(route, await as(cast.carla, shared), "another account");
        });
      } else {
        it("has an access rule that this test covers", () => {
          expect.fail(`access kind "${kind}": add its tests to ${import.meta.filename}`);
        });
      }

      for (const { name, location } of fieldsOf(route).filter(field => field.name in REFERENCES)) {
        it(`accepts only resources that the caller can access as ${name}`, async () => {
          for (const what of REFERENCES[name] ?? []) {
            for (const others of [{ api: cast.anna }, { api: cast.anna, orgId: cast.red }]) {
              const id = await foreign(what, others);
              const request = await ofCarla();
              const named = { ...request, [location]: { ...request[location], [name]: id } };
              isProblem(route, await send(cast.carla, route, named), "not-found", `somebody else's ${what}`);
            }
          }
        });
      }
    });
  }
}

function prefixOf(route: AnyRoute) {
  return thing(thingOf(route) ?? "").prefix as Parameters<typeof newId>[0];
}
