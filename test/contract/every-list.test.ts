// runs-long: npm test has test/contract/rest-api-lists.test.ts, with one list of each kind
import { routes } from "../../src/app.ts";
import { openWorld } from "./open-world.ts";
import { testPages } from "./pages.ts";
import { oneOfEachKind } from "./route-kinds.ts";

describe("pages of every other list:", () => {
  let world: Awaited<ReturnType<typeof openWorld>>;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  const tested = new Set(oneOfEachKind(routes));
  testPages(
    routes.filter(route => !tested.has(route)),
    () => world,
  );
});
