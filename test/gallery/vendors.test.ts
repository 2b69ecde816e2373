import { createHmac } from "node:crypto";
import { expect } from "chai";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { openTestSandboxes } from "../examples/open-example.ts";
import { openSource, type ShippedSource } from "./open-shipped.ts";
import {
  type GithubHook,
  type StripeEndpoint,
  startGithub,
  startStripe,
  startTelegram,
  type TelegramHook,
  type Vendor,
} from "./vendors.ts";

const ENDPOINT = "http://127.0.0.1/in/x";
const hmac = (secret: string, text: string) => createHmac("sha256", secret).update(text).digest("hex");

/** What a source of a vendor gets of a request. */
const requestOf = (body: unknown, headers: Record<string, string>) => {
  const bodyRaw = JSON.stringify(body, null, 1);
  return {
    method: "POST",
    path: "/",
    query: {},
    headers,
    bodyRaw,
    body,
    url: ENDPOINT,
    client_ip: "192.0.2.1",
  };
};

describe("the gallery's sources that register themselves:", () => {
  let sandboxes: Sandboxes;
  before(async () => {
    sandboxes = await openTestSandboxes();
  });
  after(() => sandboxes?.close());

  const activated = async (source: ShippedSource) => {
    expect((await source.call("activate")).failed).to.equal(null);
    return source;
  };

  describe("GitHub", () => {
    let github: Vendor<GithubHook>;
    beforeEach(async () => {
      github = await startGithub("t0ken");
    });
    afterEach(() => github.close());
    const open = (given: object = {}) =>
      openSource(sandboxes, "headwater-github-events", {
        ...{ token: "t0ken", repository: "octo-org/octo-repo", api: github.url, ...given },
      });
    const signed = (name: string, body: unknown, secret = github.hooks[0]?.config.secret ?? "") => {
      const request = requestOf(body, { "x-github-event": name, "x-github-delivery": "d-1" });
      request.headers["x-hub-signature-256"] = `sha256=${hmac(secret, request.bodyRaw)}`;
      return request;
    };

    it("makes one webhook, finds it again after a crash, and deletes it", async () => {
      const source = await activated(await open({ events: ["push", "issues"] }));
      expect(github.hooks).to.have.length(1);
      expect(github.hooks[0]).to.deep.include({ events: ["push", "issues"] });
      expect(github.hooks[0]?.config).to.deep.include({ url: ENDPOINT, content_type: "json" });
      // The worker died before its memory was stored.
      await activated(await open());
      expect(github.hooks.map(({ events }) => events)).to.deep.equal([["*"]]);
      await (await open()).call("deactivate");
      expect(github.hooks, "of a deployment that was given up").to.deep.equal([]);
      await activated(source);
      await source.call("deactivate");
      expect(github.hooks).to.deep.equal([]);
      expect((await source.call("deactivate")).failed).to.equal(null);
      await activated(source);
      github.hooks.length = 0;
      expect((await source.call("deactivate")).failed, "somebody deleted it there").to.equal(null);
    });

    it("emits what is signed, once, and nothing else", async () => {
      const source = await activated(await open());
      const body = {
        action: "opened",
        repository: { full_name: "octo-org/octo-repo" },
        sender: { login: "ada" },
      };
      const { emits } = await source.run(signed("issues", body));
      expect(emits.map(one => one.event)).to.deep.equal([
        { event: "issues", delivery: "d-1", payload: body },
      ]);
      expect(emits[0]?.metadata).to.include({
        id: "d-1",
        summary: "issues opened in octo-org/octo-repo by ada",
      });
      expect(await source.events(signed("issues", body)), "delivered again").to.deep.equal([]);
      expect(await source.events(signed("ping", {}))).to.deep.equal([]);
      const forged = {
        ...signed("issues", body, "guess"),
        headers: { ...signed("issues", body, "guess").headers, "x-github-delivery": "d-2" },
      };
      expect(await source.events(forged)).to.deep.equal([]);
      expect(await source.events(requestOf(body, { "x-github-event": "issues" }))).to.deep.equal([]);
    });

    it("says what GitHub says", async () => {
      expect((await (await open({ token: "wrong" })).call("activate")).failed).to.match(
        /hooks responded with status 401: Bad credentials$/,
      );
      expect((await (await open({ repository: "a/b" })).call("activate")).failed).to.match(
        /\/repos\/a\/b\/hooks responded with status 404: Not Found$/,
      );
    });
  });

  describe("Stripe", () => {
    let stripe: Vendor<StripeEndpoint>;
    beforeEach(async () => {
      stripe = await startStripe("rk_1");
    });
    afterEach(() => stripe.close());
    const open = (given: object = {}) =>
      openSource(sandboxes, "headwater-stripe-events", { apiKey: "rk_1", api: stripe.url, ...given });
    const EVENT = {
      id: "evt_1",
      type: "payment_intent.succeeded",
      created: 1_686_089_970,
      data: { object: { id: "pi_1", client_secret: "s" } },
    };
    const signed = (time: number, secret = stripe.hooks[0]?.secret ?? "") => {
      const request = requestOf(EVENT, {});
      const other = "v1=00,v0=00";
      request.headers["stripe-signature"] =
        `t=${time},${other},v1=${hmac(secret, `${time}.${request.bodyRaw}`)}`;
      return request;
    };
    const now = () => Math.floor(Date.now() / 1000);

    it("makes one endpoint, another one after a crash, because a secret is shown once, and deletes it", async () => {
      await activated(await open());
      const source = await activated(await open({ types: ["invoice.paid", "payout.failed"] }));
      expect(stripe.hooks).to.have.length(1);
      expect(stripe.hooks[0]).to.deep.include({
        url: ENDPOINT,
        enabled_events: ["invoice.paid", "payout.failed"],
      });
      await (await open()).call("deactivate");
      expect(stripe.hooks, "of a deployment that was given up").to.deep.equal([]);
      await activated(source);
      await source.call("deactivate");
      expect(stripe.hooks).to.deep.equal([]);
      await activated(source);
      stripe.hooks.length = 0;
      expect((await source.call("deactivate")).failed, "somebody deleted it there").to.equal(null);
    });

    it("emits what is signed and new, once, without what a payment could be changed with", async () => {
      const source = await activated(await open());
      const { emits } = await source.run(signed(now()));
      expect(emits.map(one => one.event)).to.deep.equal([{ ...EVENT, data: { object: { id: "pi_1" } } }]);
      expect(emits[0]?.metadata).to.include({ id: "evt_1", summary: EVENT.type, ts: 1_686_089_970_000 });
      expect(await source.events(signed(now())), "delivered again").to.deep.equal([]);
      const other = await activated(await open());
      expect(await other.events(signed(now() - 301))).to.deep.equal([]);
      expect(await other.events(signed(now() + 301))).to.deep.equal([]);
      expect(await other.events(signed(now(), "whsec_guess"))).to.deep.equal([]);
      expect(await other.events(requestOf(EVENT, {}))).to.deep.equal([]);
      expect(await other.events(signed(now() - 299))).to.have.length(1);
    });

    it("says what Stripe says", async () => {
      expect((await (await open({ apiKey: "wrong" })).call("activate")).failed).to.match(
        /status 401: Invalid API Key provided$/,
      );
    });
  });

  describe("Telegram", () => {
    let telegram: Vendor<TelegramHook>;
    beforeEach(async () => {
      telegram = await startTelegram("1:t0ken");
    });
    afterEach(() => telegram.close());
    const open = (given: object = {}) =>
      openSource(sandboxes, "headwater-telegram-updates", { token: "1:t0ken", api: telegram.url, ...given });
    const update = (secret = telegram.hooks[0]?.secret_token ?? "") =>
      requestOf(
        { update_id: 7, message: { date: 1_441_645_532, text: "/start", from: { first_name: "Ada" } } },
        { "x-telegram-bot-api-secret-token": secret },
      );

    it("registers the bot's address, also again after a crash, and takes it away", async () => {
      const source = await activated(await open());
      expect(telegram.hooks[0]).to.deep.include({
        url: ENDPOINT,
        allowed_updates: ["message", "callback_query"],
      });
      await activated(await open());
      expect((await source.call("deactivate")).failed).to.equal(null);
      expect(telegram.hooks[0]?.url).to.equal("");
      await activated(source);
      await (await open()).call("deactivate");
      expect(telegram.hooks[0]?.url, "of a deployment that was given up").to.equal("");
    });

    it("takes a bot away from no other address, and ends none but its own", async () => {
      const source = await activated(await open());
      telegram.hooks[0] = { url: "https://bots.example.com/secret" };
      expect((await (await open()).call("activate")).failed).to.match(
        /^the bot sends its updates to bots\.example\.com already/,
      );
      await source.call("deactivate");
      expect(telegram.hooks[0]?.url).to.equal("https://bots.example.com/secret");
    });

    it("emits what has the secret token, once, and shows the bot's token in no error", async () => {
      const source = await activated(await open());
      const { emits } = await source.run(update());
      expect(emits.map(one => one.event)).to.deep.equal([update().body]);
      expect(emits[0]?.metadata).to.include({
        id: "7",
        summary: "message of Ada /start",
        ts: 1_441_645_532_000,
      });
      expect(await source.events(update())).to.deep.equal([]);
      expect(await source.events({ ...update("guess"), body: { update_id: 8 } })).to.deep.equal([]);
      const failed = (await (await open({ token: "2:wrong" })).call("activate")).failed;
      expect(failed)
        .to.match(/^Telegram's getWebhookInfo said: Unauthorized/)
        .and.not.include("2:wrong");
    });
  });
});
