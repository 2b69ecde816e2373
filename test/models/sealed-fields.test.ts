import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { routes } from "../../src/app.ts";
import { SEALED_FIELDS } from "../../src/models/sealed-fields.ts";
import { openWorld } from "../contract/open-world.ts";
import { exampleRequest, send } from "../contract/requests.ts";
import { root } from "../support/built.ts";
import { findSealedTexts } from "../support/sealed-texts.ts";

/** Where each file that encrypts puts it: a new one is a field of SEALED_FIELDS, a key of `redisKeys.sealed`, or a cookie. */
const SEALED_BY: Record<string, string> = {
  "accounts/openid-connect/pending.ts": "a cookie",
  "app.ts": "redis:idempotency",
  "cli/secrets/sealed-with.ts": "where it was",
  "components/additional-props/next-props.ts": "dynamic_props.sealed",
  "connections/apps/set.ts": "apps.client_secret",
  "connections/consent/ticket.ts": "redis:consent-ticket, redis:consent-state",
  "connections/secrets.ts": "connections.secrets",
  "destinations/settings.ts": "webhooks.settings",
  "http/idempotency.ts": "redis:idempotency",
  "sources/prepare.ts": "sources.configured_props, sources.dynamic_props",
  "webhooks/create.ts": "webhooks.signing_keys[].sealed",
  "webhooks/custom-headers.ts": "webhooks.headers",
  "webhooks/rotate-signing-key.ts": "webhooks.signing_keys[].sealed",
};

const registered = SEALED_FIELDS.flatMap(({ name, fields, lists }) => [
  ...fields.map(field => `${name}.${field}`),
  ...lists.map(({ list, field }) => `${name}.${list}[].${field}`),
]);

describe("the fields that are sealed", () => {
  it("are those of the files that seal something", () => {
    const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" }).filter(
      file => file.endsWith(".ts") && file !== "store/secrets.ts",
    );
    const sealing = files.filter(file =>
      /\bseal\(|\.seal\b/.test(readFileSync(join(root, "src", file), "utf8")),
    );
    expect(sealing.sort(), "say in this file where it is stored").to.deep.equal(
      Object.keys(SEALED_BY).sort(),
    );
    const places = new Set(Object.values(SEALED_BY).flatMap(text => text.split(", ")));
    const fields = [...places].filter(place => /^\w+\./.test(place));
    expect(fields, "SEALED_FIELDS").to.have.members(registered);
  });

  it("are all that is found in the stores after a request of every kind", async () => {
    const world = await openWorld();
    try {
      const api = await world.system.user();
      for (const [i, route] of routes.entries()) {
        if (route.response.kind === "stream") continue;
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
      expect([...registered, ...inRedis]).to.include.members([...found]);
      expect([...found]).to.include.members([
        ...["sources.configured_props", "webhooks.settings", "webhooks.signing_keys[].sealed"],
        ...["redis:idempotency", "redis:consent-ticket"],
      ]);
    } finally {
      await world.close();
    }
  });
});
