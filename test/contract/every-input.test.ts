// runs-long: npm test has test/contract/rest-api-input.test.ts, with one route of each kind
import { routes } from "../../src/app.ts";
import { testInput, testPaths } from "./input.ts";
import { openOwner, openWorld } from "./open-world.ts";
import { oneOfEachKind } from "./route-kinds.ts";
import type { Owner } from "./things.ts";

describe("requests to every other route", () => {
  let world: Awaited<ReturnType<typeof openWorld>>;
  let owner: Owner;

  before(async () => {
    world = await openWorld();
    owner = await openOwner(world);
  });
  after(() => world.close());

  const tested = new Set(oneOfEachKind(routes));
  const others = routes.filter(route => !tested.has(route));
  testInput(others, () => ({ world, owner }));
  testPaths(others, () => owner);
});
