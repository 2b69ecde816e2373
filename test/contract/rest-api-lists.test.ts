import { routes } from "../../src/app.ts";
import { openWorld } from "./open-world.ts";
import { testPages } from "./pages.ts";
import { oneOfEachKind } from "./route-kinds.ts";

/** Of all lists in `npm run test:long` (every-list.test.ts). */
describe("pages of a list of each kind:", () => {
  let world: Awaited<ReturnType<typeof openWorld>>;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  testPages(oneOfEachKind(routes), () => world);
});
