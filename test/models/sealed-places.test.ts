// runs-long: npm test has test/models/sealed-fields.test.ts

import { expect } from "chai";
import { routes } from "../../src/app.ts";
import { SEALED_FIELDS } from "../../src/models/sealed-fields.ts";
import { openWorld } from "../contract/open-world.ts";
import { exampleRequest, send } from "../contract/requests.ts";
import { findSealedTexts, placesOf } from "../support/sealed-texts.ts";

describe("the fields that are sealed", function () {
  // A request of every kind, on a busy machine too.
  this.timeout(600_000);

  it("are all that is found in the stores after a request of every kind", async () => {
    const world = await openWorld();
    try {
      const api = await world.system.user();
      for (const [i, route] of routes.entries()) {
        // Nothing is stored by the others.
        if (route.method === "GET" || route.method === "DELETE") continue;
        const request = await exampleRequest(
          world,
          route,
          route.access.kind === "member"
            ? { api, orgId: await world.system.organization(api.userId) }
            : { api },
        );
        await send(api, route, request, { "idempotency-key": String(i) });
      }
      const found = new Set((await findSealedTexts(world.system.web)).map(({ place }) => place));
      const inRedis = world.system.web.keys.sealed().map(pattern => `redis:${pattern.split(":")[1]}`);
      expect([...placesOf(SEALED_FIELDS), ...inRedis]).to.include.members([...found]);
      expect([...found]).to.include.members([
        ...["sources.configured_props", "webhooks.settings", "webhooks.signing_keys[].sealed"],
        ...["redis:idempotency", "redis:consent-ticket"],
      ]);
    } finally {
      await world.close();
    }
  });
});
