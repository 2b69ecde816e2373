// runs-long: npm test has each source with its vendor in test/gallery/vendors.test.ts, and a hook that sets a secret in test/ingress/verification.test.ts
import { createHmac } from "node:crypto";
import { expect } from "chai";
import { publishGallery } from "../../src/gallery/publish-gallery.ts";
import { readShipped } from "../../src/gallery/shipped.ts";
import { Sources } from "../../src/models/source.ts";
import { verifyOf } from "../../src/sources/verify.ts";
import { send } from "../sources/http-client.ts";
import type { Api, SourceView } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import {
  startGithub,
  startGitlab,
  startStripe,
  startTelegram,
  startTypeform,
  type Vendor,
} from "./vendors.ts";

/** A vendor's imitation, with the secret that it knows and a request that is signed with one. */
interface Case {
  key: string;
  preset: string;
  start(): Promise<Vendor<unknown>>;
  props(url: string): object;
  secretOf(hook: unknown): string | undefined;
  body: object;
  sign(body: string, secret: string): Record<string, string>;
}

const hmac = (secret: string, text: string) => createHmac("sha256", secret).update(text).digest("hex");
const CASES: Case[] = [
  {
    ...{ key: "headwater-github-events", preset: "github" },
    start: () => startGithub("t0ken"),
    props: api => ({ token: "t0ken", repository: "octo-org/octo-repo", api }),
    secretOf: hook => (hook as { config: { secret: string } } | undefined)?.config.secret,
    body: { action: "opened", sender: { login: "ada" } },
    sign: (body, secret) => ({
      "x-github-event": "issues",
      "x-github-delivery": "d-1",
      "x-hub-signature-256": `sha256=${hmac(secret, body)}`,
    }),
  },
  {
    ...{ key: "headwater-gitlab-events", preset: "gitlab" },
    start: () => startGitlab("glpat-1"),
    props: url => ({ token: "glpat-1", path: "engines/analytical", url }),
    secretOf: hook => (hook as { token: string } | undefined)?.token,
    body: { object_kind: "push", user_name: "Ada" },
    sign: (_, secret) => ({ "x-gitlab-token": secret, "idempotency-key": "i-1" }),
  },
  {
    ...{ key: "headwater-stripe-events", preset: "stripe" },
    start: () => startStripe("rk_1"),
    props: api => ({ apiKey: "rk_1", api }),
    secretOf: hook => (hook as { secret: string } | undefined)?.secret,
    body: { id: "evt_1", type: "invoice.paid", created: 1_686_089_970, data: { object: {} } },
    sign(body, secret) {
      const time = Math.floor(Date.now() / 1000);
      return { "stripe-signature": `t=${time},v1=${hmac(secret, `${time}.${body}`)}` };
    },
  },
  {
    ...{ key: "headwater-typeform-responses", preset: "typeform" },
    start: () => startTypeform("tfp_1"),
    props: api => ({ token: "tfp_1", form: "u6nXL7", api }),
    secretOf: hook => (hook as { secret: string } | undefined)?.secret,
    body: {
      event_id: "e1",
      event_type: "form_response",
      form_response: { form_id: "u6nXL7", token: "r1", submitted_at: "2026-11-29T08:00:00Z" },
    },
    sign: (body, secret) => ({
      "typeform-signature": `sha256=${createHmac("sha256", secret).update(body).digest("base64")}`,
    }),
  },
  {
    ...{ key: "headwater-telegram-updates", preset: "telegram" },
    start: () => startTelegram("1:t0ken"),
    props: api => ({ token: "1:t0ken", api }),
    secretOf: hook => (hook as { secret_token?: string } | undefined)?.secret_token,
    body: { update_id: 7, message: { date: 1_441_645_532, text: "/start" } },
    sign: (_, secret) => ({ "x-telegram-bot-api-secret-token": secret }),
  },
];

describe("a deployed source of the gallery that registers itself", () => {
  let system: System;
  let api: Api;
  before(async () => {
    system = await startSystem({ SANDBOX_EGRESS_ALLOW: "127.0.0.0/8" });
    await publishGallery(system.web, await readShipped());
    api = await system.user();
  });
  after(() => system.stop());

  const stored = async (source: SourceView) => {
    const found = (await Sources(system.web.mongo).findById(source.id).lean()) ?? expect.fail();
    return verifyOf(system.web, found);
  };

  for (const { key, preset, body, ...vendorOf } of CASES) {
    it(`runs for what is signed with the secret of ${key}'s hook, and for nothing else`, async () => {
      const vendor = await vendorOf.start();
      try {
        const { component_id } = await api.expect(200, "GET", `/gallery/${key}`);
        const configured_props = vendorOf.props(vendor.url);
        const source = await api.createSource({ component_id, configured_props });
        const endpoint = source.configured_props.http?.endpoint_url ?? "";
        const known = () => vendorOf.secretOf(vendor.hooks[0]) ?? expect.fail("no secret");
        const text = JSON.stringify(body);
        const request = (secret: string) => ({
          headers: { "content-type": "application/json", ...vendorOf.sign(text, secret) },
          body: [text],
        });
        expect((await send(endpoint, request("guess"))).status).to.equal(401);
        expect((await send(endpoint, { body: [text] })).status).to.equal(401);
        const { status, text: response } = await send(endpoint, request(known()));
        expect(status).to.equal(200);
        const rows = await until(async () => {
          const found = await api.summaries(source.id);
          return found.length > 0 && found;
        });
        const [row, ...others] = rows;
        expect(row?.metadata).to.include({ emit_id: `${JSON.parse(response).run_id}-0` });
        expect(others).to.deep.equal([]);

        const shown = await api.expect(200, "GET", `/sources/${source.id}`);
        expect(shown.verify).to.include({ by: "author", preset, secrets: 1 });
        expect(JSON.stringify(shown)).not.to.include(known());
        const before = known();
        await api.expect(200, "PUT", `/sources/${source.id}`, { body: { active: false } });
        expect((await stored(source))?.secrets).to.deep.equal([]);
        await until(
          async () => (await api.expect(200, "GET", `/sources/${source.id}`)).deactivating === false,
        );
        expect(vendorOf.secretOf(vendor.hooks[0])).to.equal(undefined);
        await api.expect(200, "PUT", `/sources/${source.id}`, { body: {} });
        expect(known()).not.to.equal(before);
        expect((await send(endpoint, request(before))).status).to.equal(401);
        expect((await send(endpoint, request(known()))).status).to.equal(200);
      } finally {
        await vendor.close();
      }
    });
  }
});
