import { expect } from "chai";
import { createApiKey, revokeApiKey } from "../../../src/accounts/api-keys.ts";
import { LIMITS } from "../../../src/limits/catalogue.ts";
import { Sessions, SignInLinks } from "../../../src/models/session.ts";
import { Api } from "../../support/api.ts";
import { dropKeys } from "../../support/platform.ts";
import { type System, startSystem } from "../../support/system.ts";
import { until } from "../../support/until.ts";
import { BrowserApi, cookieOf, signInWith } from "./browser.ts";

describe("sessions of browsers", () => {
  let system: System;
  let api: Api & { userId: string };
  let nobody: Api;
  before(async () => {
    system = await startSystem({}, { workers: false });
    nobody = new Api(system.baseUrl, "");
  });
  after(() => system.stop());
  beforeEach(async () => {
    api = await system.user();
  });

  const browser = (cookie: string, headers: Record<string, string> = {}) =>
    new BrowserApi(system.baseUrl, cookie, headers);
  const signIn = (body: object, headers: Record<string, string> = {}) =>
    nobody.request("POST", "/sessions", { body, headers });
  const statusOf = async (client: Api, method = "GET", path = "/users/me") =>
    (await client.request(method, path)).status;
  /** Changes the stored sessions of the user, and shows every process the change at once. */
  const shift = async (fields: object) => {
    await Sessions(system.worker.mongo).updateMany({ user_id: api.userId }, { $set: fields });
    await system.worker.routing.invalidate([api.userId]);
  };

  it("begin with an API key, and open every route with a cookie that no script can read", async () => {
    const response = await signIn({ api_key: api.apiKey }, { "user-agent": "Firefox" });
    expect(response.status).to.equal(201);
    expect(response.headers.get("set-cookie")).to.match(
      /^headwater=hws_[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax$/,
    );
    const { data } = response.body;
    expect(data).to.include({ user_id: api.userId, current: true, user_agent: "Firefox" });
    expect(data.expires_at - data.created_at).to.equal(LIMITS.sessionIdleMs.value / 1000);
    const page = browser(cookieOf(response));
    expect(await page.expect(200, "GET", "/users/me")).to.include({ id: api.userId });
    const workflow = await page.expect(201, "POST", "/workflows", { body: { name: "Flow" } });
    expect(await api.expect(200, "GET", `/workflows/${workflow.id}`)).to.include({ name: "Flow" });
    const stored = JSON.stringify(await Sessions(system.worker.mongo).find({ user_id: api.userId }).lean());
    expect(stored).not.to.include(cookieOf(response).slice("headwater=".length + 4));
  });

  it("are a __Host- cookie over https, and none over http to another machine", async () => {
    const { config } = system.web;
    const withUrl = async <T>(publicUrl: string, work: () => Promise<T>) => {
      Object.defineProperty(system.web, "config", { value: { ...config, publicUrl }, configurable: true });
      return await work().finally(() =>
        Object.defineProperty(system.web, "config", { value: config, configurable: true }),
      );
    };
    await withUrl("https://headwater.test", async () => {
      const response = await signIn({ api_key: api.apiKey });
      expect(response.headers.get("set-cookie")).to.match(
        /^__Host-headwater=hws_[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax; Secure$/,
      );
      expect(await statusOf(browser(cookieOf(response)))).to.equal(200);
      const local = cookieOf(response).replace("__Host-", "");
      expect(await statusOf(browser(local)), "the name without a prefix").to.equal(401);
    });
    await withUrl("http://headwater.test", async () => {
      expect((await signIn({ api_key: api.apiKey })).status).to.equal(403);
      expect(await statusOf(api, "POST", "/sign_in_links")).to.equal(403);
    });
  });

  it("are listed, and end one by one or by signing out", async () => {
    const pages = [await signInWith(api), await signInWith(api)].map(cookie => browser(cookie));
    const [first, second] = pages as [BrowserApi, BrowserApi];
    const listed = await second.expect(200, "GET", "/sessions");
    expect(listed.map(({ current }: { current: boolean }) => current)).to.deep.equal([true, false]);
    expect(await second.expect(204, "DELETE", `/sessions/${listed[1].id}`)).to.equal("");
    expect([await statusOf(first), await statusOf(second)]).to.deep.equal([401, 200]);
    const signedOut = await second.request("DELETE", "/sessions/current");
    expect(signedOut.headers.get("set-cookie")).to.match(/^headwater=; Path=\/; Max-Age=0;/);
    expect(await statusOf(second)).to.equal(401);
    expect(await api.expect(200, "GET", "/sessions")).to.deep.equal([]);
  });

  it("end with the API key that they were started with, and only with that", async () => {
    const other = await createApiKey(system.worker, api.userId);
    const kept = browser(await signInWith(api));
    const ended = browser(await signInWith(new Api(system.baseUrl, other.api_key)));
    expect([await statusOf(kept), await statusOf(ended)]).to.deep.equal([200, 200]);
    await revokeApiKey(system.worker, other.id);
    expect([await statusOf(kept), await statusOf(ended)]).to.deep.equal([200, 401]);
  });

  it("end after some time without use, and after a longer time with use", async () => {
    const page = browser(await signInWith(api));
    const [{ created_at }] = await page.expect(200, "GET", "/sessions");
    const used = async () => (await page.expect(200, "GET", "/sessions"))[0];
    const isUsed = async () => (await used()).last_used_at >= created_at;
    await shift({ last_used_at: created_at - 3600 });
    await until(isUsed);
    const old = created_at - LIMITS.sessionMs.value / 1000 + 600;
    await shift({ created_at: old, last_used_at: created_at - 3600 });
    await until(isUsed);
    expect((await used()).expires_at).to.equal(old + LIMITS.sessionMs.value / 1000);
    await shift({ expires_at: new Date(Date.now() - 1000) });
    expect(await statusOf(page)).to.equal(401);
  });

  it("are at most some of a user: the oldest ends", async () => {
    const page = browser(await signInWith(api));
    const [row] = await Sessions(system.worker.mongo).find({ user_id: api.userId }).lean();
    const more = Array.from({ length: LIMITS.sessions.value }, (_, i) => {
      const n = String(i).padStart(2, "0");
      return { ...row, _id: `ses_zzzzzzz0000000${n}`, hash: `${api.userId}-${n}` };
    });
    await Sessions(system.worker.mongo).insertMany(more);
    await signInWith(api);
    expect(await statusOf(page)).to.equal(401);
    expect(await Sessions(system.worker.mongo).countDocuments({ user_id: api.userId })).to.equal(
      LIMITS.sessions.value,
    );
  });

  it("are not used by pages of other origins, and an API key in the request comes first", async () => {
    const cookie = await signInWith(api);
    const { origin } = new URL(system.baseUrl);
    const create = { body: { name: "Flow" } };
    const tries: [Record<string, string>, read: number, change: number][] = [
      [{ "sec-fetch-site": "same-origin" }, 200, 201],
      [{ "sec-fetch-site": "none" }, 200, 403],
      [{ "sec-fetch-site": "same-site", origin }, 403, 403],
      [{ "sec-fetch-site": "cross-site", origin }, 403, 403],
      [{ "sec-fetch-site": "", origin }, 200, 201],
      [{ "sec-fetch-site": "" }, 200, 403],
      [{ "sec-fetch-site": "", origin: "null" }, 200, 403],
      [{ "sec-fetch-site": "", origin: "https://evil.example" }, 200, 403],
      [{ "sec-fetch-site": "", origin: origin.replace(/\d+$/, "1") }, 200, 403],
    ];
    for (const [headers, read, change] of tries) {
      const page = browser(cookie, headers);
      const what = JSON.stringify(headers);
      expect(await statusOf(page), what).to.equal(read);
      const changed = await page.request("POST", "/workflows", create);
      expect(changed.status, what).to.equal(change);
      if (change === 403) expect(changed.body.detail).to.include("own pages");
    }
    const other = await system.user();
    const both = browser(cookie, { authorization: `Bearer ${other.apiKey}` });
    expect(await both.expect(200, "GET", "/users/me")).to.include({ id: other.userId });
    const wrong = browser(cookie, { authorization: "Bearer hw_wrong" });
    expect(await statusOf(wrong)).to.equal(401);
    const foreign = { origin: "https://evil.example" };
    expect((await signIn({ api_key: api.apiKey }, foreign)).status, "sign-in of a foreign page").to.equal(
      403,
    );
  });

  it("have a token that is nothing but a session", async () => {
    const cookie = await signInWith(api);
    const token = cookie.slice("headwater=".length);
    expect(await statusOf(new Api(system.baseUrl, token)), "as an API key").to.equal(401);
    expect(await statusOf(browser(`headwater=${api.apiKey}`)), "an API key as a cookie").to.equal(401);
    expect(await statusOf(browser(`headwater=hws_${"x".repeat(43)}`)), "a forged one").to.equal(401);
    expect((await signIn({ link: token })).status, "as a link").to.equal(401);
  });

  it("begin once with a link of a user's key, which a session can't make", async () => {
    const startedAt = Date.now();
    const { url } = await api.expect(201, "POST", "/sign_in_links");
    const { expires_at } = (await SignInLinks(system.worker.mongo).findOne().lean()) ?? {};
    const lifeMs = (expires_at?.getTime() ?? 0) - startedAt;
    expect(lifeMs - LIMITS.signInLinkMs.value).to.be.within(0, Date.now() - startedAt);
    const link = new URL(url).hash.slice("#link=".length);
    expect(url).to.equal(`${new URL(system.baseUrl).origin}/dashboard/sign-in#link=${link}`);
    expect(JSON.stringify(await SignInLinks(system.worker.mongo).find().lean())).not.to.include(
      link.slice(4),
    );
    const response = await signIn({ link });
    expect(response.status).to.equal(201);
    const page = browser(cookieOf(response));
    expect(await page.expect(200, "GET", "/users/me")).to.include({ id: api.userId });
    expect((await signIn({ link })).status, "used").to.equal(401);
    expect(await statusOf(page, "POST", "/sign_in_links")).to.equal(403);

    const replaced = await api.expect(201, "POST", "/sign_in_links");
    await api.expect(201, "POST", "/sign_in_links");
    expect((await signIn({ link: replaced.url.split("#link=")[1] })).status, "replaced").to.equal(401);
    const late = await api.expect(201, "POST", "/sign_in_links");
    await SignInLinks(system.worker.mongo).updateMany({}, { $set: { expires_at: new Date(Date.now() - 1) } });
    expect((await signIn({ link: late.url.split("#link=")[1] })).status, "expired").to.equal(401);
  });

  it("need exactly one proof, and are not guessed", async () => {
    for (const body of [{}, { api_key: api.apiKey, link: "hwl_x" }, { api_key: 1 }, { link: "" }]) {
      expect((await signIn(body)).status, JSON.stringify(body)).to.equal(400);
    }
    const statuses: number[] = [];
    for (let i = 0; i <= LIMITS.signInGuesses.value; i++) {
      const proof = i % 2 ? { api_key: `hw_${"x".repeat(32)}` } : { link: `hwl_${"x".repeat(43)}` };
      statuses.push((await signIn(proof)).status);
    }
    // Some of the guesses were made above, from the same address.
    expect(statuses.at(-1)).to.equal(429);
    expect(statuses.indexOf(429)).to.be.greaterThan(5);
    const wrong = await signIn({ api_key: `hw_${"x".repeat(32)}` });
    expect(Number(wrong.headers.get("retry-after"))).to.be.greaterThan(60);
    const { url } = await api.expect(201, "POST", "/sign_in_links");
    for (const [what, proof] of [
      ["an API key", { api_key: api.apiKey }],
      ["a link", { link: url.split("#link=")[1] }],
    ] as const) {
      const right = await signIn(proof);
      expect(right.status, `${what} of somebody else at the address`).to.equal(201);
      expect(await statusOf(browser(cookieOf(right)))).to.equal(200);
    }
    await dropKeys(system.worker);
  });
});
