import { expect } from "chai";
import { createApiKey, revokeApiKey } from "../../src/accounts/api-keys.ts";
import { routes } from "../../src/app.ts";
import { PROBLEMS } from "../../src/http/problem.ts";
import type { AnyRoute } from "../../src/http/route.ts";
import { newId } from "../../src/lib/ids.ts";
import { Api, type ApiAnswer, type Problem } from "../support/api.ts";
import { faultsOf } from "./document.ts";
import { openWorld } from "./open-world.ts";
import { type ExampleRequest, exampleRequest, send, thingOf } from "./requests.ts";
import { type Owner, thing } from "./things.ts";

type User = Owner["api"];

/**
 * Parameters and fields that name a thing: of which kinds (THINGS). One with a new name adds itself here, so that it is
 * tested with things of others; or to NO_REFERENCE.
 */
const REFERENCES: Record<string, string[]> = {
  component_id: ["component"],
  emitter_id: ["source", "workflow"],
  listener_id: ["webhook", "source", "workflow"],
};
const NO_REFERENCE = new Set(["org_id", "start_id", "end_id"]);

const fieldsOf = (route: AnyRoute) => [
  ...Object.keys(route.query?.properties ?? {}).map(name => ({ name, place: "query" as const })),
  ...Object.keys(route.body?.properties ?? {}).map(name => ({ name, place: "body" as const })),
];

/** Anna owns things and the organization red, where Bert is a member. Carla has an organization of her own, blue. */
interface Cast {
  anna: User;
  bert: User;
  carla: User;
  red: string;
  blue: string;
  nobody: Api;
  /** Whose key was revoked, and whose key was never given. */
  revoked: Api;
  stranger: Api;
}

describe("authorization of every route", () => {
  let world: Awaited<ReturnType<typeof openWorld>>;
  let cast: Cast;

  before(async () => {
    world = await openWorld();
    const { system } = world;
    const [anna, bert, carla] = [await system.user(), await system.user(), await system.user()];
    const [red, blue] = [await system.organization(anna.userId), await system.organization(carla.userId)];
    const { addMember } = await import("../../src/accounts/organizations.ts");
    await addMember(system.worker, red, bert.userId);
    const key = await createApiKey(system.worker, anna.userId);
    await revokeApiKey(system.worker, key.id);
    const keyed = (apiKey: string) => new Api(system.baseUrl, apiKey);
    cast = {
      ...{ anna, bert, carla, red, blue, nobody: keyed("") },
      ...{ revoked: keyed(key.api_key), stranger: keyed(`hw_${"x".repeat(32)}`) },
    };
  });
  after(() => world.close());

  const isSuccess = (route: AnyRoute, answer: ApiAnswer<unknown>, who: string) => {
    expect(answer.status, `${who}: ${answer.text}`).to.equal(route.response.status);
    expect(faultsOf(route, answer), who).to.deep.equal([]);
  };

  const isProblem = (
    route: AnyRoute,
    answer: ApiAnswer<Problem>,
    code: keyof typeof PROBLEMS,
    who: string,
  ) => {
    const { status, title } = PROBLEMS[code];
    expect(answer.status, `${who}: ${answer.text}`).to.equal(status);
    expect(faultsOf(route, answer), who).to.deep.equal([]);
    const { detail, error } = answer.body;
    expect(answer.body, who).to.include({ type: `/docs/errors#${code}`, title, status });
    expect(detail, who).to.be.a("string").and.not.equal("");
    expect(error, who).to.equal(detail);
    if (status === 401) expect(answer.headers.get("www-authenticate")).to.match(/^Bearer /);
  };

  /** The request with its organization: in the query string, or for a method with a body in there. */
  const inOrg = (request: ExampleRequest, org_id: string, place: "query" | "body" = "query") =>
    place === "query"
      ? { ...request, query: { ...request.query, org_id } }
      : { ...request, body: { ...request.body, org_id } };

  it("knows every parameter that names a thing", () => {
    for (const route of routes) {
      for (const { name } of fieldsOf(route).filter(field => field.name.endsWith("_id"))) {
        expect(
          name in REFERENCES || NO_REFERENCE.has(name),
          `${route.id} takes ${name}: add it to REFERENCES or NO_REFERENCE in this file`,
        ).to.equal(true);
      }
    }
  });

  for (const route of routes) {
    describe(`${route.method} ${route.path}`, () => {
      const { kind } = route.access;
      const owner = (api: User): Owner => (kind === "member" ? { api, orgId: cast.red } : { api });

      if (kind === "public") {
        it("answers everybody, with whatever key", async () => {
          const request = await exampleRequest(world, route, { api: cast.anna });
          for (const api of [cast.nobody, cast.stranger, cast.anna]) {
            isSuccess(route, await send(api, route, request), api.apiKey);
          }
        });
        return;
      }

      it("refuses without a key, with a malformed, an unknown and a revoked one", async () => {
        const request = await exampleRequest(world, route, owner(cast.anna));
        const tries = { "no key": cast.nobody, "unknown key": cast.stranger, "revoked key": cast.revoked };
        for (const [who, api] of Object.entries(tries)) {
          isProblem(route, await send(api, route, request), "unauthenticated", who);
        }
        const { apiKey } = cast.anna;
        for (const header of [
          apiKey,
          `Basic ${apiKey}`,
          "Bearer",
          `Bearer ${apiKey} x`,
          `Bearer ${apiKey}x`,
        ]) {
          const answer = await send(cast.nobody, route, request, { authorization: header });
          isProblem(route, answer, "unauthenticated", header.replace(apiKey, "<key>"));
        }
      });

      if (kind === "caller" || kind === "owner") {
        it("answers a caller in its own account", async () => {
          const request = await exampleRequest(world, route, { api: cast.carla });
          isSuccess(route, await send(cast.carla, route, request), "carla");
        });

        it("answers members in their organization, and tells others it does not exist", async () => {
          for (const api of [cast.anna, cast.bert]) {
            const request = await exampleRequest(world, route, { api, orgId: cast.red });
            isSuccess(route, await send(api, route, inOrg(request, cast.red)), "a member");
          }
          const request = await exampleRequest(world, route, { api: cast.carla });
          const absent = await send(cast.carla, route, inOrg(request, newId("o")));
          isProblem(route, absent, "not-found", "absent organization");
          for (const place of route.method === "GET"
            ? ["query" as const]
            : ["query" as const, "body" as const]) {
            const refused = await send(cast.carla, route, inOrg(request, cast.red, place));
            isProblem(route, refused, "not-found", `organization of others in the ${place}`);
            expect(refused.body).to.deep.equal(absent.body);
          }
        });
      } else if (kind === "member") {
        it("answers members, and tells others the organization does not exist", async () => {
          const request = await exampleRequest(world, route, owner(cast.anna));
          for (const api of [cast.anna, cast.bert]) {
            isSuccess(route, await send(api, route, request), "a member");
          }
          const refused = await send(cast.carla, route, request);
          isProblem(route, refused, "not-found", "a stranger");
          const absent = await exampleRequest(world, route, { api: cast.anna, orgId: newId("o") });
          expect((await send(cast.carla, route, absent)).body).to.deep.equal(refused.body);
        });

        it("takes no second organization", async () => {
          const request = await exampleRequest(world, route, { api: cast.carla, orgId: cast.blue });
          const refused = await send(cast.carla, route, inOrg(request, cast.red));
          isProblem(route, refused, "not-found", "another organization in the query");
          const own = await world.system.organization(cast.carla.userId);
          const both = await send(cast.carla, route, inOrg(request, own));
          isProblem(route, both, "invalid", "two organizations of one member");
        });
      } else if (kind === "resource") {
        it("answers who owns what it names, and tells all others it does not exist", async () => {
          const { make, isPublic } = thing(thingOf(route) ?? "");
          const personal = await make(world, { api: cast.anna });
          const shared = await make(world, { api: cast.anna, orgId: cast.red });
          /** Everything else in the request is the sender's own. */
          const as = async (api: User, id: string, orgId?: string) => {
            const request = await exampleRequest(world, route, { api }, id);
            return send(api, route, orgId ? inOrg(request, orgId) : request);
          };
          if (!isPublic) {
            const refusals: [string, User, string, string?][] = [
              ["another user's", cast.carla, personal],
              ["another organization's", cast.carla, shared],
              ["another organization's, from one's own", cast.carla, shared, cast.blue],
              ["a fellow member's own", cast.bert, personal],
              ["a fellow member's own, in the organization", cast.bert, personal, cast.red],
              ["one's own, in an organization", cast.anna, personal, cast.red],
            ];
            const absent = await as(
              cast.carla,
              thing(thingOf(route) ?? "").prefix ? newId(prefixOf(route)) : "x",
            );
            for (const [whose, api, id, orgId] of refusals) {
              const answer = await as(api, id, orgId);
              isProblem(route, answer, "not-found", whose);
              expect(answer.body, whose).to.deep.equal(absent.body);
            }
            isProblem(
              route,
              await as(cast.carla, shared, cast.red),
              "not-found",
              "with the organization named",
            );
          }
          // Last, for they may delete it: it is there still, and does not need org_id (rest-api.md, section 4.1).
          isSuccess(route, await as(cast.anna, personal), "its owner");
          isSuccess(route, await as(cast.bert, shared), "a member of the owning organization");
          if (isPublic) isSuccess(route, await as(cast.carla, shared), "everybody");
        });
      } else {
        it("has an access rule that this test knows", () => {
          expect.fail(`access kind "${kind}": add what each caller is answered to ${import.meta.filename}`);
        });
      }

      for (const { name, place } of fieldsOf(route).filter(field => field.name in REFERENCES)) {
        it(`takes only what the caller reaches as ${name}`, async () => {
          for (const what of REFERENCES[name] ?? []) {
            for (const others of [{ api: cast.anna }, { api: cast.anna, orgId: cast.red }]) {
              const id = await thing(what).make(world, others);
              const request = await exampleRequest(world, route, owner(cast.carla));
              const named = { ...request, [place]: { ...request[place], [name]: id } };
              isProblem(route, await send(cast.carla, route, named), "not-found", `somebody else's ${what}`);
            }
          }
        });
      }
    });
  }
});

function prefixOf(route: AnyRoute) {
  return thing(thingOf(route) ?? "").prefix as Parameters<typeof newId>[0];
}
