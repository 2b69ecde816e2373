import { expect } from "chai";
import { routes } from "../../src/app.ts";
import { testInput, testPaths } from "./input.ts";
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

    testPaths(oneOfEachKind(routes), () => owner);

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
