import { expect } from "chai";
import { startOpenIdProvider, type TestProvider } from "../../support/openid-provider.ts";
import { type System, startSystem } from "../../support/system.ts";
import { BrowserApi, signInWith } from "../sessions/browser.ts";
import { Visitor } from "./visitor.ts";

describe("signing out of a session that began with an OpenID provider", () => {
  let provider: TestProvider;
  let system: System;
  before(async () => {
    provider = await startOpenIdProvider();
    system = await startSystem(provider.env, { workers: false });
    await provider.returnTo(new URL(system.baseUrl).origin);
    provider.people.set("anna", { email: "anna@acme.test", email_verified: true });
  });
  after(async () => {
    await system?.stop();
    await provider?.stop();
  });

  async function signOut(visitor: Visitor, of: System = system) {
    const response = await visitor.request(`${of.baseUrl}/openid_sign_outs`, {
      method: "POST",
      headers: { "sec-fetch-site": "same-origin" },
    });
    return { status: response.status, body: (await response.json()) as { data: { url: string | null } } };
  }

  it("ends it here, and then with the provider, which sends the browser back", async () => {
    const anna = new Visitor(system.baseUrl);
    await anna.signIn("anna");
    const cookies = anna.cookies();
    expect(cookies).to.match(/^headwater=hws_/);
    const { body } = await signOut(anna);
    expect(anna.cookies()).to.equal("");
    const kept = new BrowserApi(system.baseUrl, cookies);
    expect((await kept.request("GET", "/users/me")).status, "it has ended").to.equal(401);
    const { url } = body.data;
    const there = new URL(url ?? "");
    expect(there.origin).to.equal(provider.issuer);
    const page = await (await anna.request(there)).text();
    const xsrf = /name="xsrf" value="(\w+)"/.exec(page)?.[1] ?? "";
    const form = new URLSearchParams({ xsrf, logout: "yes" });
    const confirmed = await anna.request(`${provider.issuer}/session/end/confirm`, {
      method: "POST",
      body: form,
    });
    const back = new URL(confirmed.headers.get("location") ?? "");
    expect(back.origin + back.pathname).to.equal(`${new URL(system.baseUrl).origin}/dashboard/sign-in`);
    expect(back.searchParams.get("state")).to.equal(there.searchParams.get("state"));
    expect((await anna.request(back)).status).to.equal(200);
    // The provider asks again who this is.
    const begun = (await (await anna.begin()).json()) as { data: { url: string } };
    const asked = await anna.request(begun.data.url);
    expect(asked.headers.get("location")).to.match(/^\/interaction\//);
  });

  it("names no address for a session that began with a key, nor to a key", async () => {
    const api = await system.user();
    const browser = new BrowserApi(system.baseUrl, await signInWith(api));
    expect(await browser.expect(200, "POST", "/openid_sign_outs")).to.deep.equal({ url: null });
    expect((await browser.request("GET", "/users/me")).status).to.equal(401);
    expect(await api.expect(200, "POST", "/openid_sign_outs")).to.deep.equal({ url: null });
    expect((await api.request("GET", "/users/me")).status).to.equal(200);
  });

  it("is for pages of this server only", async () => {
    const anna = new Visitor(system.baseUrl);
    await anna.signIn("anna");
    const headers = { "sec-fetch-site": "cross-site", origin: "https://evil.example" };
    const response = await anna.request(`${system.baseUrl}/openid_sign_outs`, { method: "POST", headers });
    expect(response.status).to.equal(403);
    expect(await anna.me()).not.to.equal(null);
  });

  it("ends here all the same where the provider is away or has no such address", async () => {
    const silent = await startOpenIdProvider({ signsOut: false });
    const without = await startSystem(silent.env, { workers: false });
    await silent.returnTo(new URL(without.baseUrl).origin);
    silent.people.set("anna", { email: "anna@acme.test", email_verified: true });
    try {
      const anna = new Visitor(without.baseUrl);
      await anna.signIn("anna");
      expect(await signOut(anna, without)).to.deep.equal({ status: 200, body: { data: { url: null } } });
      expect(await anna.me()).to.equal(null);
      const bert = new Visitor(without.baseUrl);
      await bert.signIn("anna");
      await silent.stop();
      expect((await signOut(bert, without)).status).to.equal(200);
      expect(await bert.me()).to.equal(null);
    } finally {
      await without.stop();
      await silent.stop();
    }
  });
});
