import { expect } from "chai";
import { RETURN_PATH } from "../../src/connections/consent/consent.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { Connections } from "../../src/models/connection.ts";
import { Memberships } from "../../src/models/organization.ts";
import type { Api, Problem } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { type AppServer, CookieBrowser, registerApp, startAppServer } from "./app-server.ts";

interface Consent {
  connection_id: string;
  url: string;
  expires_at: number;
}

describe("the consent to a connection", () => {
  let system: System;
  let api: Api & { userId: string };
  let server: AppServer;
  let publicUrl: string;
  before(async () => {
    system = await startSystem({}, { workers: false });
    ({ publicUrl } = system.web.config);
    api = await system.user({ plan: "paid" });
    server = await startAppServer(publicUrl);
    await registerApp(system.web, server);
  });
  after(async () => {
    await server?.stop();
    await system?.stop();
  });

  const ask = (body: object = {}, query: Record<string, string> = {}): Promise<Consent> =>
    api.expect(201, "POST", "/connections/consents", { body: { app: "demo", ...body }, query });
  const statusOf = async (id: string) => (await api.request("GET", `/connections/${id}`)).status;

  it("leads from our page to the app and back, and then the connection exists", async () => {
    const { url, connection_id, expires_at } = await ask({ name: "Mine <b>" });
    expect(new URL(url).origin).to.equal(publicUrl);
    expect(expires_at).to.be.closeTo((Date.now() + LIMITS.consentMs.value) / 1000, 30);
    const browser = new CookieBrowser();
    const page = await browser.request(url);
    expect(page.status).to.equal(200);
    for (const shown of ["Demo &amp; Co", "Mine &lt;b&gt;", "<code>read</code>"])
      expect(page.text).to.contain(shown);
    expect(page.headers.get("content-security-policy")).to.contain(`form-action 'self' ${server.url};`);
    expect(page.headers.get("content-security-policy")).to.contain("default-src 'none'");
    expect(page.headers.get("cache-control")).to.equal("no-store");
    const away = new URL(await browser.agree(url));
    const { code_challenge, state, ...others } = Object.fromEntries(away.searchParams);
    expect(code_challenge).to.match(/^[\w-]{43}$/);
    expect(state).to.match(/^[\w-]{43}$/);
    expect(others).to.deep.equal({
      client_id: "headwater",
      code_challenge_method: "S256",
      login_hint: "somebody",
      redirect_uri: publicUrl + RETURN_PATH,
      response_type: "code",
      scope: "read offline_access",
    });
    expect(await statusOf(connection_id), "before").to.equal(404);
    const returned = await browser.consent(away.href);
    const done = await browser.request(returned);
    expect([done.status, done.text]).to.satisfy(() => done.text.includes("Mine &lt;b&gt;"));
    expect(done.headers.get("content-security-policy")).to.contain("form-action 'self';");
    const found = await api.expect(200, "GET", `/connections/${connection_id}`);
    expect(found).to.include({
      app: "demo",
      kind: "oauth2",
      name: "Mine <b>",
      health: "working",
      error: null,
    });
    expect(found.field_names).to.deep.equal(["oauth_access_token"]);
    const { grants, issued } = server;
    expect(grants.at(-1)).to.equal("authorization_code");
    for (const secret of issued) expect(JSON.stringify(found) + done.text).not.to.contain(secret);
    const rows = await api.expect(200, "GET", "/users/me/connections");
    expect(rows[0].id).to.equal(connection_id);
  });

  it("takes each link and each return once", async () => {
    const { url, connection_id } = await ask();
    const browser = new CookieBrowser();
    const returned = await browser.consent(await browser.agree(url));
    for (const again of [
      await browser.request(url),
      await browser.request(url, { method: "POST", headers: { "sec-fetch-site": "same-origin" } }),
    ]) {
      expect(again.status).to.equal(400);
      expect(again.text).to.contain("used before");
    }
    expect((await browser.request(returned)).status).to.equal(200);
    const asked = server.grants.length;
    const again = await browser.request(returned);
    expect([again.status, server.grants.length]).to.deep.equal([400, asked]);
    expect(await Connections(system.web.mongo).countDocuments({ _id: connection_id })).to.equal(1);
  });

  it("is worth nothing in another browser, and with a state that was never given", async () => {
    const { url, connection_id } = await ask();
    const attacker = new CookieBrowser();
    const away = await attacker.agree(url);
    const victim = new CookieBrowser();
    const asked = server.grants.length;
    const returned = await victim.consent(away);
    const page = await victim.request(returned);
    expect(page.status).to.equal(400);
    expect(page.text).to.contain("another browser");
    expect((await attacker.request(returned)).status, "the state is used up").to.equal(400);
    const invented = new URL(returned);
    invented.searchParams.set("state", "x".repeat(43));
    expect((await attacker.request(invented.href)).status).to.equal(400);
    expect(server.grants).to.have.length(asked);
    expect(await statusOf(connection_id)).to.equal(404);
  });

  it("is kept for no longer than its page says", async () => {
    const { redis, config } = system.web;
    const { url } = await ask();
    const browser = new CookieBrowser();
    await browser.agree(url);
    await ask();
    const keys = await redis.keys(`${config.redisPrefix}:consent-*`);
    expect(keys.length).to.be.at.least(2);
    for (const key of keys) {
      expect(await redis.pttl(key)).to.be.within(1, LIMITS.consentMs.value);
      const text = await redis.get(key);
      expect(text, key).to.match(/^v1\./);
    }
  });

  it("begins on our own page only", async () => {
    const { url } = await ask();
    const browser = new CookieBrowser();
    const foreign: Record<string, string>[] = [
      { "sec-fetch-site": "cross-site" },
      { origin: "https://evil.example" },
    ];
    for (const headers of foreign) {
      const { status, location } = await browser.request(url, { method: "POST", headers });
      expect([status, location]).to.deep.equal([403, null]);
    }
    expect((await browser.request(url)).status, "the link is not used up").to.equal(200);
  });

  it("that is denied says so and leaves nothing", async () => {
    const { url, connection_id } = await ask();
    const browser = new CookieBrowser();
    const page = await browser.request(await browser.consent(await browser.agree(url), { deny: true }));
    expect(page.status).to.equal(400);
    expect(page.text).to.contain("You did not agree");
    expect(await statusOf(connection_id)).to.equal(404);
  });

  it("without PKCE is rejected by the app, whose error code the page shows", async () => {
    const { url } = await ask();
    const browser = new CookieBrowser();
    const away = new URL(await browser.agree(url));
    away.searchParams.delete("code_challenge");
    away.searchParams.delete("code_challenge_method");
    const page = await browser.request(await browser.consent(away.href));
    expect(page.status).to.equal(400);
    expect(page.text).to.contain("<code>invalid_request</code>");
  });

  it("with the code of another consent gives nothing", async () => {
    const browser = new CookieBrowser();
    const [one, two] = [await ask(), await ask()];
    const other = new URL(await browser.consent(await browser.agree(one.url)));
    const returned = new URL(await browser.consent(await browser.agree(two.url)));
    returned.searchParams.set("code", other.searchParams.get("code") ?? "");
    const page = await browser.request(returned.href);
    expect(page.status).to.equal(400);
    expect(page.text).to.contain("<code>invalid_grant</code>");
    expect(await statusOf(two.connection_id)).to.equal(404);
  });

  it("says that the app is away", async () => {
    const { url } = await ask();
    const browser = new CookieBrowser();
    const returned = await browser.consent(await browser.agree(url));
    server.isAway = true;
    const page = await browser.request(returned);
    server.isAway = false;
    expect(page.status).to.equal(400);
    expect(page.text).to.contain("The app can&#39;t be reached right now");
  });

  it("of an organization shows its name, and needs who asked to be still a member", async () => {
    const org_id = await system.organization(api.userId);
    const member = await system.user();
    const _id = `${org_id}-${member.userId}`;
    const row = { _id, org_id, user_id: member.userId, created_at: 0 };
    await Memberships(system.web.mongo).insertOne(row);
    const options = { body: { app: "demo" }, query: { org_id } };
    const { url, connection_id } = await member.expect(201, "POST", "/connections/consents", options);
    const browser = new CookieBrowser();
    expect((await browser.request(url)).text).to.contain("<b>Org</b>");
    const returned = await browser.consent(await browser.agree(url));
    await Memberships(system.web.mongo).deleteOne({ _id });
    expect((await browser.request(returned)).text).to.contain("no longer use the account");
    expect(await statusOf(connection_id)).to.equal(404);
  });

  it("to a connection that exists replaces its tokens, and makes a broken one work", async () => {
    const first = await ask({ name: "Kept" });
    const browser = new CookieBrowser();
    await browser.request(await browser.consent(await browser.agree(first.url)));
    const stored = () => Connections(system.web.mongo).findById(first.connection_id).lean();
    const before = await stored();
    await Connections(system.web.mongo).updateOne(
      { _id: first.connection_id },
      { $set: { health: "broken", fault: { code: "invalid_grant", message: "ended", at_ms: 1 } } },
    );
    const path = `/connections/${first.connection_id}`;
    expect(await api.expect(200, "GET", path)).to.deep.include({
      health: "broken",
      error: { code: "invalid_grant", message: "ended", at: 0 },
    });
    const again: Consent = await api.expect(201, "POST", `${path}/reconnect`);
    expect(again.connection_id).to.equal(first.connection_id);
    const denied = new CookieBrowser();
    await denied.request(await denied.consent(await denied.agree(again.url), { deny: true }));
    expect((await stored())?.health, "denied").to.equal("broken");
    const { url } = await api.expect(201, "POST", `${path}/reconnect`);
    await browser.request(await browser.consent(await browser.agree(url)));
    const after = await stored();
    expect(after).to.include({ health: "working", fault: null, name: "Kept", version: 2 });
    expect(after?.secrets).not.to.equal(before?.secrets);
  });

  it("is for a registered app, and an account asks so often in an hour", async () => {
    const unknown = await api.request<Problem>("POST", "/connections/consents", { body: { app: "other" } });
    expect([unknown.status, unknown.body.errors?.[0]?.path]).to.deep.equal([400, "app"]);
    const keys = await api.expect(201, "POST", "/connections", { body: { app: "demo", fields: { a: "b" } } });
    expect((await api.request("POST", `/connections/${keys.id}/reconnect`)).status).to.equal(409);
    const eager = await system.user();
    const statuses = new Set<number>();
    for (let n = 0; n <= LIMITS.consents.value; n += 1) {
      const { status } = await eager.request("POST", "/connections/consents", { body: { app: "demo" } });
      statuses.add(status);
    }
    expect([...statuses]).to.deep.equal([201, 429]);
  });

  it("lists the registered apps without what is the operator's", async () => {
    const { body } = await api.request("GET", "/apps");
    expect(body.data).to.deep.equal([
      { slug: "demo", name: "Demo & Co", scopes: ["read", "offline_access"], events: null, verify: null },
    ]);
  });
});
