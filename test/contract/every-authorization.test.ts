// runs-long: npm test has test/contract/authorization.test.ts, with one route for each access rule
import { routes } from "../../src/app.ts";
import { testAccess } from "./access.ts";
import { oneOfEachAccess } from "./route-kinds.ts";

describe("authorization of every other route", () => {
  const tested = new Set(oneOfEachAccess(routes));
  testAccess(routes.filter(route => !tested.has(route)));
});
