import { request as httpRequest } from "node:http";
import { expect } from "chai";
import { routes } from "../../src/app.ts";
import { testInput } from "./input.ts";
import { openOwner, openWorld } from "./open-world.ts";
import { oneOfEachKind } from "./route-kinds.ts";
import type { Owner } from "./things.ts";

/** Of all routes in `npm run test:long` (every-input.test.ts). */
describe("requests to a route of each kind", () => {
  let world: Awaited<ReturnType<typeof openWorld>>;
  let owner: Owner;

  before(async () => {
    world = await openWorld();
    owner = await openOwner(world);
  });
  after(() => world.close());

  testInput(oneOfEachKind(routes), () => ({ world, owner }));

  describe("paths and methods", () => {
    const paths = [...new Set(routes.map(route => route.path))];
    for (const path of paths) {
      it(`${path} rejects a method that it does not support with 405 and Allow`, async () => {
        const supported = routes.filter(route => route.path === path).map(route => route.method);
        const real = path.replaceAll(/\{\w+\}/g, "x");
        const response = await owner.api.request("PATCH", real);
        expect(response.status, response.text).to.equal(405);
        expect((response.headers.get("allow") ?? "").split(", ")).to.include.members(supported);
        expect(response.body).to.include({ type: "/docs/errors#method-not-allowed", status: 405 });
      });
    }

    it("respond to malformed paths with a problem, never with a 500", async () => {
      const { apiKey } = owner.api;
      const { port } = new URL(owner.api.baseUrl);
      /** Sends the path unchanged; fetch would normalize it. */
      const raw = (path: string, method = "GET") =>
        new Promise<number>((resolve, reject) => {
          const headers = { authorization: `Bearer ${apiKey}` };
          const sent = httpRequest({ port, host: "127.0.0.1", path, method, headers }, response => {
            response.resume().on("end", () => resolve(response.statusCode ?? 0));
          });
          sent.on("error", reject).end();
        });
      const long = "x".repeat(8000);
      const malformed = [
        "%00",
        "%ff",
        "%",
        "%zz",
        "..",
        "%2e%2e%2f",
        "a%2fb",
        "$errors",
        "'",
        "{id}",
        "%F0%9F%98%80",
        long,
      ];
      for (const path of ["/v1//", "//v1/users/me", "/v1/nothing", "/v2/users/me", "/v1/Users/Me"]) {
        expect(await raw(path), path).to.equal(404);
      }
      for (const route of routes.filter(one => one.path.includes("{"))) {
        for (const part of malformed) {
          const path = `/v1${route.path.replaceAll(/\{\w+\}/g, part)}`;
          const status = await raw(path, route.method);
          expect([400, 404, 405], `${route.method} ${path.slice(0, 80)}: ${status}`).to.include(status);
        }
      }
    });

    it("respond to headers that are too large with a problem", async () => {
      const response = await owner.api.request("GET", "/users/me", {
        headers: { "x-large": "x".repeat(20_000) },
      });
      expect(response.status).to.equal(431);
      expect(response.body).to.include({ type: "/docs/errors#headers-too-large", status: 431 });
      expect(response.headers.get("content-type")).to.match(/^application\/problem\+json/);
    });

    it("add a request id to every response, the caller's own if there is one", async () => {
      const own = await owner.api.request("GET", "/users/me", { headers: { "x-request-id": "mine-1" } });
      expect(own.headers.get("x-request-id")).to.equal("mine-1");
      const rejected = await owner.api.request("GET", "/nothing");
      expect(rejected.headers.get("x-request-id")).to.match(/\S{8,}/);
    });
  });
});
