import { expect } from "chai";
import { routes } from "../../src/app.ts";
import { fieldsOf, NO_REFERENCE, REFERENCES, testAccess } from "./access.ts";
import { oneOfEachAccess } from "./route-kinds.ts";

/** Of all routes in `npm run test:long` (every-authorization.test.ts). */
describe("authorization of a route of each kind", () => {
  it("is tested for every parameter that names a resource", () => {
    for (const route of routes) {
      for (const { name } of fieldsOf(route).filter(field => field.name.endsWith("_id"))) {
        expect(
          name in REFERENCES || NO_REFERENCE.has(name),
          `${route.id} takes ${name}: add it to REFERENCES or NO_REFERENCE in access.ts`,
        ).to.equal(true);
      }
    }
  });

  testAccess(oneOfEachAccess(routes));
});
