import { expect } from "chai";
import { KeyGate } from "../../src/http/authorize.ts";
import { empty, routeFor } from "../../src/http/route.ts";
import { createRouter } from "../../src/http/router.ts";
import { type DemoServer, type Deps, startDemo } from "./demo-server.ts";

describe("http/router", () => {
  let demo: DemoServer;
  before(async () => {
    demo = await startDemo();
  });
  after(() => demo.close());

  describe("paths", () => {
    it("serves a path with and without a trailing slash", async () => {
      for (const path of ["/v1/users/me/things", "/v1/users/me/things/", "/v1/things/t_one/"]) {
        expect((await demo.send({ path })).status, path).to.equal(200);
      }
    });

    it("treats %24errors as $errors", async () => {
      for (const name of ["$errors", "%24errors"]) {
        const response = await demo.send({ method: "DELETE", path: `/v1/things/t_one/${name}/events` });
        expect([response.status, response.text], name).to.deep.equal([202, ""]);
      }
    });

    it("responds to an unknown path with a 404 problem", async () => {
      for (const path of [
        "/",
        "/v1",
        "/v2/things/t_one",
        "/v1//things/t_one",
        "/v1/Things/t_one",
        "/v1/things/t_one//",
      ]) {
        const response = await demo.send({ path });
        expect([response.status, response.json?.type], path).to.deep.equal([404, "/docs/errors#not-found"]);
      }
    });

    it("responds to another method of a known path with 405 and Allow", async () => {
      const response = await demo.send({ method: "PATCH", path: "/v1/things/t_one" });
      expect(response.status).to.equal(405);
      expect(response.headers.allow?.split(", ")).to.have.members([
        "HEAD",
        "GET",
        "PUT",
        "DELETE",
        "OPTIONS",
      ]);
    });

    it("responds to OPTIONS with the methods, without an API key", async () => {
      const response = await demo.send({ method: "OPTIONS", path: "/v1/things/", key: null });
      expect([response.status, response.headers.allow]).to.deep.equal([204, "POST, HEAD, GET, OPTIONS"]);
    });

    it("responds to HEAD as to GET, without the body", async () => {
      const response = await demo.send({ method: "HEAD", path: "/v1/things/t_one" });
      expect([response.status, response.text]).to.deep.equal([200, ""]);
      expect(response.headers["content-type"]).to.match(/^application\/json/);
    });

    it("rejects NUL in a path parameter; invalid percent-encoding is not found", async () => {
      expect((await demo.send({ path: "/v1/things/t%00one" })).status).to.equal(400);
      expect((await demo.send({ path: "/v1/things/%zz" })).status).to.equal(404);
      expect((await demo.send({ path: "/v1/things/%c3%28" })).status).to.equal(404);
      expect((await demo.send({ path: "/v1/things/..%2f..%2fetc" })).status).to.equal(404);
    });
  });

  describe("authorization", () => {
    it("requires an API key before it checks anything else", async () => {
      const withoutKey = { method: "POST", path: "/v1/things?wrong=1", body: "{not json" };
      for (const authorization of [
        "",
        "Bearer",
        "Bearer ",
        "Basic a2V5",
        "Bearer key-eve",
        "key-ann",
        "Bearer a b",
      ]) {
        const response = await demo.send({ ...withoutKey, key: null, headers: { authorization } });
        expect(response.status, authorization).to.equal(401);
        expect(response.headers["www-authenticate"]).to.match(/^Bearer/);
        expect(response.json.title).to.equal("API key required");
      }
    });

    it("accepts the scheme in upper and lower case", async () => {
      const headers = { authorization: "bearer  key-ann" };
      expect((await demo.send({ path: "/v1/things/t_one", key: null, headers })).status).to.equal(200);
    });

    it("serves a public route without an API key", async () => {
      const response = await demo.send({ path: "/v1/live", key: null });
      expect([response.status, response.text]).to.deep.equal([200, "data: hello\n\n"]);
      expect(response.headers["content-type"]).to.match(/^text\/event-stream/);
    });

    it("responds with the same 404 to an absent id, a malformed id and somebody else's", async () => {
      const details = [];
      for (const id of ["t_none", "t_bob", "NOT-AN-ID", "t_one%20"]) {
        const response = await demo.send({ path: `/v1/things/${id}` });
        expect(response.status, id).to.equal(404);
        details.push(response.json.detail);
      }
      expect(new Set(details)).to.deep.equal(new Set(["thing not found"]));
    });

    it("finds resources of the caller's organizations, narrowed by org_id", async () => {
      const status = async (path: string) => (await demo.send({ path })).status;
      expect(await status("/v1/things/t_red")).to.equal(200);
      expect(await status("/v1/things/t_red?org_id=o_red")).to.equal(200);
      expect(await status("/v1/things/t_one?org_id=o_red")).to.equal(404);
    });

    it("responds 404 for an organization that the caller is not a member of", async () => {
      for (const path of [
        "/v1/orgs/o_blue/things",
        "/v1/orgs/o_red/things?org_id=o_blue",
        "/v1/things/t_one?org_id=u_ann",
      ]) {
        const response = await demo.send({ path });
        expect([response.status, response.json.detail], path).to.deep.equal([404, "organization not found"]);
      }
      expect((await demo.send({ path: "/v1/orgs/o_red/things", key: "key-bob" })).status).to.equal(404);
    });

    it("acts for the organization in path, query or body, otherwise for the user", async () => {
      const listed = await demo.send({ path: "/v1/orgs/o_red/things" });
      expect(listed.json).to.deep.equal({ data: [{ id: "t_red", owner: "o_red", name: "red", size: null }] });
      const owner = async (path: string, body?: unknown) =>
        (await demo.send({ method: "POST", path, body })).json.data.owner;
      expect(await owner("/v1/things?name=a")).to.equal("u_ann");
      expect(await owner("/v1/things?name=a&org_id=o_red")).to.equal("o_red");
      expect(await owner("/v1/things", { name: "a", org_id: "o_red" })).to.equal("o_red");
    });
  });

  describe("declarations", () => {
    const routerOf = (routes: Parameters<typeof createRouter<Deps>>[0]) => () =>
      createRouter(routes, {
        deps: { things: [], calls: [] },
        prefix: "/v1",
        gate: new KeyGate({
          authenticate: async () => null,
          clock: Date.now,
          isKey: () => true,
          rateLimit: undefined,
        }),
      });
    const route = routeFor<Deps>();
    const one = (path: string, id: string) =>
      route({
        method: "GET",
        path,
        id,
        tag: "T",
        summary: "T",
        access: { kind: "caller" },
        response: empty(),
        handler: async () => {},
      });

    it("throws for two routes with the same id or path", () => {
      expect(routerOf([one("/a", "a"), one("/b", "a")])).to.throw("a is declared twice");
      expect(routerOf([one("/a/{id}", "a"), one("/a/{key}", "b")])).to.throw("GET /a/{} is declared twice");
    });

    it("prefers a fixed path to one with a parameter, in any order", async () => {
      const routes = [
        one("/a/{id}", "any"),
        { ...one("/a/fixed", "fixed"), access: { kind: "public" as const } },
      ];
      const server = await startDemo({ routes });
      expect((await server.send({ path: "/v1/a/fixed", key: null })).status).to.equal(204);
      await server.close();
    });
  });
});
