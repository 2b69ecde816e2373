import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { SEALED_FIELDS } from "../../src/models/sealed-fields.ts";
import { root } from "../support/built.ts";
import { placesOf } from "../support/sealed-texts.ts";

/** Where each file that encrypts puts it: a new one is a field of SEALED_FIELDS, a key of `redisKeys.sealed`, or a cookie. */
const SEALED_BY: Record<string, string> = {
  "accounts/openid-connect/pending.ts": "a cookie",
  "app.ts": "redis:idempotency",
  "cli/secrets/reseal.ts": "where it was",
  "components/configure/dynamic-props.ts": "dynamic_props.sealed",
  "connections/apps/apps.ts": "apps.client_secret",
  "connections/consent/ticket.ts": "redis:consent-ticket, redis:consent-state",
  "connections/secrets.ts": "connections.secrets",
  "connections/verify.ts": "connections.verify, apps.verify",
  "destinations/kind.ts": "webhooks.settings",
  "http/idempotency.ts": "redis:idempotency",
  "mcp/events/subscriptions.ts": "webhooks.signing_keys[].sealed",
  "sources/prepare.ts": "sources.configured_props, sources.dynamic_props, sources.verify",
  "sources/verify.ts": "sources.verify",
  "webhooks/custom-headers.ts": "webhooks.headers",
  "webhooks/webhooks.ts": "webhooks.signing_keys[].sealed",
};

const registered = placesOf(SEALED_FIELDS);

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
});
