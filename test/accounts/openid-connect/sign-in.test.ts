import { expect } from "chai";
import { createApiKey } from "../../../src/accounts/api-keys.ts";
import { endAllSessions } from "../../../src/accounts/sessions/sessions.ts";
import { newId } from "../../../src/lib/ids.ts";
import { LIMITS } from "../../../src/limits/catalogue.ts";
import { Sessions } from "../../../src/models/session.ts";
import { ApiKeys, Identities, Users } from "../../../src/models/user.ts";
import { rejection } from "../../components/rejection.ts";
import { Api } from "../../support/api.ts";
import { startOpenIdProvider, type TestProvider } from "../../support/openid-provider.ts";
import { type System, startSystem } from "../../support/system.ts";
import { until } from "../../support/until.ts";
import { BrowserApi, cookieOf } from "../sessions/browser.ts";
import { problemOf, Visitor } from "./visitor.ts";

describe("sign-in with an OpenID provider", () => {
  let provider: TestProvider;
  let system: System;
  let count = 0;
  before(async () => {
    provider = await startOpenIdProvider();
    await provider.stop();
    // The web process starts while its provider is away.
    system = await startSystem(provider.env, { workers: false });
    await provider.start();
    await provider.returnTo(new URL(system.baseUrl).origin);
  });
  after(async () => {
    await system?.stop();
    await provider?.stop();
  });

  const visitor = () => new Visitor(system.baseUrl);
  /** Somebody whom the rules let in, unless these claims say otherwise. */
  function person(claims: object = {}): string {
    const name = `p${++count}`;
    provider.people.set(name, { email: `${name}@acme.test`, email_verified: true, ...claims });
    return name;
  }

  it("makes an account without an API key, starts a session, and shows the page that was asked for", async () => {
    const anna = visitor();
    const name = person({ email: "Anna.X@ACME.test" });
    const response = await anna.signIn(name, { returnTo: "/dashboard/sources?q=a%20b" });
    const { origin } = new URL(system.baseUrl);
    expect([response.status, response.headers.get("location")]).to.deep.equal([
      303,
      `${origin}/dashboard/sources?q=a%20b`,
    ]);
    expect(response.headers.get("cache-control")).to.equal("no-store");
    expect(response.headers.get("referrer-policy")).to.equal("no-referrer");
    const cookies = response.headers.getSetCookie();
    expect(cookies.join("\n")).to.match(/^headwater-sign-in=; Path=\/; Max-Age=0; HttpOnly; SameSite=Lax$/m);
    expect(cookies.join("\n")).to.match(
      /^headwater=hws_[\w-]{43}; Path=\/; Max-Age=86400; HttpOnly; SameSite=Lax$/m,
    );
    const me = await anna.me();
    expect(me).to.include({ email: "anna.x@acme.test" });
    expect(await ApiKeys(system.worker.mongo).countDocuments({ user_id: me?.id })).to.equal(0);
    const [session] = await Sessions(system.worker.mongo).find({ user_id: me?.id }).lean();
    expect(session).to.include({ key_id: null });

    const again = visitor();
    await again.signIn(name);
    expect((await again.me())?.id, "the same person").to.equal(me?.id);
    await again.request(`${system.baseUrl}/sessions/current`, {
      method: "DELETE",
      headers: { "sec-fetch-site": "same-origin" },
    });
    expect([await again.me(), (await anna.me())?.id]).to.deep.equal([null, me?.id]);
  });

  it("ends a day after it began, however much it is used", async () => {
    const anna = visitor();
    await anna.signIn(person());
    const { id = "" } = (await anna.me()) ?? {};
    const [{ created_at = 0 } = {}] = await Sessions(system.worker.mongo).find({ user_id: id }).lean();
    const old = created_at - LIMITS.providerSessionMs.value / 1000 + 600;
    await Sessions(system.worker.mongo).updateMany(
      { user_id: id },
      { $set: { created_at: old, last_used_at: created_at - 3600 } },
    );
    await system.worker.routing.invalidate([id]);
    const expiry = async () =>
      (await Sessions(system.worker.mongo).findOne({ user_id: id }).lean())?.expires_at.getTime();
    await until(async () => {
      await anna.me();
      return (await expiry()) === old * 1000 + LIMITS.providerSessionMs.value;
    });
  });

  it("ends when the operator signs the user out everywhere", async () => {
    const tabs = [visitor(), visitor()];
    const name = person();
    for (const tab of tabs) await tab.signIn(name);
    const { id = "" } = (await tabs[0]?.me()) ?? {};
    const ended = await endAllSessions(system.worker, id);
    expect(ended).to.deep.equal({ id, ended_sessions: 2, revoked_keys: 0 });
    expect(await Promise.all(tabs.map(tab => tab.me()))).to.deep.equal([null, null]);
    expect((await rejection(endAllSessions(system.worker, newId("u")))).code).to.equal("not-found");
  });

  it("offers the provider's name, and binds a sign-in to its browser by a cookie that no script can read", async () => {
    const options = await fetch(`${system.baseUrl}/sign_in_options`);
    expect(await options.json()).to.deep.equal({ data: { openid_connect: { name: "127.0.0.1" } } });
    const begun = await visitor().begin();
    expect(begun.headers.get("set-cookie")).to.match(
      /^headwater-sign-in=v1\.[\w.-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/,
    );
    const { data } = (await begun.json()) as { data: { url: string } };
    const { searchParams } = new URL(data.url);
    expect(Object.fromEntries(searchParams)).to.include({
      client_id: "headwater",
      response_type: "code",
      code_challenge_method: "S256",
      scope: "openid email profile",
    });
    for (const name of ["state", "nonce", "code_challenge"]) {
      expect(searchParams.get(name), name).to.match(/^[\w-]{43}$/);
    }
  });

  it("accepts no other state, no other browser, and no return a second time", async () => {
    const anna = visitor();
    const back = await anna.signInThere(person());
    const forged = new URL(back);
    forged.searchParams.set("state", "x".repeat(43));
    expect(problemOf(await anna.request(forged)), "another state").to.equal("not-yours");
    forged.searchParams.delete("state");
    expect(problemOf(await anna.request(forged)), "no state").to.equal("not-yours");
    const eve = visitor();
    expect(problemOf(await eve.request(back)), "without a cookie").to.equal("not-yours");
    await eve.begin();
    expect(problemOf(await eve.request(back)), "another browser").to.equal("not-yours");
    expect(await eve.me()).to.equal(null);

    const kept = anna.cookies();
    expect((await anna.request(back)).headers.get("location")).to.match(/\/dashboard$/);
    expect(problemOf(await anna.request(back)), "the cookie is gone").to.equal("not-yours");
    const copy = await fetch(back, { headers: { cookie: kept }, redirect: "manual" });
    expect(problemOf(copy), "a copied cookie").to.equal("not-yours");
  });

  it("accepts no token with another nonce, and none that the provider's keys did not sign", async () => {
    const begun = (await (await visitor().begin()).json()) as { data: { url: string } };
    const nonce = new URL(begun.data.url).searchParams.get("nonce") ?? "";
    const anna = visitor();
    const back = await anna.signInThere(person(), { change: url => url.searchParams.set("nonce", nonce) });
    expect(problemOf(await anna.request(back))).to.equal("not-proven");
    provider.showsForeignKeys = true;
    try {
      expect(problemOf(await anna.signIn(person()))).to.equal("not-proven");
    } finally {
      provider.showsForeignKeys = false;
    }
    expect((await anna.signIn(person())).headers.get("location")).to.match(/\/dashboard$/);
  });

  it("accepts no code and no issuer of another sign-in", async () => {
    const [anna, eve] = [visitor(), visitor()];
    const back = await anna.signInThere(person());
    const others = await eve.signInThere(person());
    const mixed = new URL(back);
    // The code is of the other's challenge and nonce.
    mixed.searchParams.set("code", others.searchParams.get("code") ?? "");
    expect(problemOf(await anna.request(mixed))).to.equal("not-proven");
    const elsewhere = await anna.signInThere(person());
    elsewhere.searchParams.set("iss", "https://evil.example");
    expect(problemOf(await anna.request(elsewhere))).to.equal("not-proven");
    expect(await anna.me()).to.equal(null);
  });

  it("returns to pages of the dashboard only", async () => {
    for (const path of [
      "https://evil.example/dashboard",
      "//evil.example/dashboard",
      "/\\evil.example/dashboard",
      "/dashboard/../v1/users/me",
      "/dashboardx",
      "/",
      "dashboard",
      "/\n/evil.example/dashboard",
      `/dashboard/${"x".repeat(LIMITS.returnPathCharacters.value)}`,
    ]) {
      const response = await visitor().begin({ return_to: path });
      expect(response.status, path).to.equal(400);
      const { errors } = (await response.json()) as { errors: { path: string }[] };
      expect(
        errors.map(error => error.path),
        path,
      ).to.deep.equal(["return_to"]);
    }
  });

  it("is begun by own pages only, at the address that the provider knows", async () => {
    const foreign = await visitor().begin(
      {},
      { "sec-fetch-site": "cross-site", origin: "https://evil.example" },
    );
    expect(foreign.status).to.equal(403);
    const { port } = new URL(system.baseUrl);
    const response = await fetch(`${system.baseUrl}/openid_sign_ins`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "sec-fetch-site": "same-origin",
        origin: `http://localhost:${port}`,
      },
      body: "{}",
    });
    expect(response.status).to.equal(403);
    expect(await response.text()).to.include(`open the dashboard at http://127.0.0.1:${port}/dashboard`);
  });

  it("lets in verified addresses of the allowed domains only", async () => {
    const problems: [object, string][] = [
      [{ email_verified: false }, "not-verified"],
      [{ email_verified: undefined }, "not-verified"],
      [{ email: undefined }, "not-verified"],
      [{ email: "x@sub.acme.test" }, "not-allowed"],
      [{ email: "x@acme.test.evil.example" }, "not-allowed"],
      [{ email: "x@acme.test@evil.example" }, "not-verified"],
    ];
    const before = await Users(system.worker.mongo).countDocuments();
    for (const [claims, problem] of problems) {
      const eve = visitor();
      expect(problemOf(await eve.signIn(person(claims))), JSON.stringify(claims)).to.equal(problem);
      expect(await eve.me()).to.equal(null);
    }
    expect(problemOf(await visitor().signIn(person(), { stop: true }))).to.equal("cancelled");
    expect(await Users(system.worker.mongo).countDocuments()).to.equal(before);
  });

  it("knows people by their subject, and ends what they have when the rules no longer let them in", async () => {
    const name = person();
    const anna = visitor();
    await anna.signIn(name);
    const me = await anna.me();
    provider.people.set(name, { email: `${name}-married@acme.test`, email_verified: true });
    const renamed = visitor();
    await renamed.signIn(name);
    expect(await renamed.me()).to.deep.equal(me);
    provider.people.set(name, { email: `${name}@elsewhere.test`, email_verified: true });
    expect(problemOf(await visitor().signIn(name))).to.equal("not-allowed");
    expect([await anna.me(), await renamed.me()]).to.deep.equal([null, null]);
  });

  for (const how of ["a sign-in that the rules reject", "the operator, who signs the user out"] as const) {
    it(`ends with its API keys, and what was made with those, by ${how}`, async () => {
      const name = person();
      const anna = visitor();
      await anna.signIn(name);
      const { id = "" } = (await anna.me()) ?? {};
      const made = async (client: { request: Visitor["request"] } | Api, key: string) => {
        const response =
          client instanceof Api
            ? await client.request("POST", "/api_keys", { body: { name: key } })
            : await client.request(`${system.baseUrl}/api_keys`, {
                method: "POST",
                headers: { "content-type": "application/json", "sec-fetch-site": "same-origin" },
                body: JSON.stringify({ name: key }),
              });
        expect(response.status, key).to.equal(201);
        const body =
          response instanceof Response ? ((await response.json()) as { data: never }) : response.body;
        return new Api(system.baseUrl, (body.data as { api_key: string }).api_key);
      };
      const byOperator = new Api(system.baseUrl, (await createApiKey(system.worker, id)).api_key);
      const first = await made(anna, "in the session");
      const second = await made(first, "with that key");
      const signedIn = await new Api(system.baseUrl, "").request("POST", "/sessions", {
        body: { api_key: second.apiKey },
      });
      const tab = new BrowserApi(system.baseUrl, cookieOf(signedIn));
      const third = await made(tab, "in a session of that key");
      const kept = await made(byOperator, "with the operator's key");
      const rows = await byOperator.expect(200, "GET", "/api_keys");
      const shown = rows.map(
        (row: { name: string; ends_with_provider: boolean; made_with: string | null }) => [
          row.name,
          row.ends_with_provider,
          row.made_with?.split("_")[0],
        ],
      );
      expect(shown).to.deep.equal([
        ["with the operator's key", false, "key"],
        ["in a session of that key", true, "ses"],
        ["with that key", true, "key"],
        ["in the session", true, "ses"],
        [null, false, undefined],
      ]);
      if (how.startsWith("the operator")) {
        expect(await endAllSessions(system.worker, id)).to.include({ revoked_keys: 3 });
      } else {
        provider.people.set(name, { email: `${name}@elsewhere.test`, email_verified: true });
        expect(problemOf(await visitor().signIn(name))).to.equal("not-allowed");
      }
      const statuses = [];
      for (const client of [first, second, tab, third, byOperator, kept]) {
        statuses.push((await client.request("GET", "/users/me")).status);
      }
      expect(statuses).to.deep.equal([401, 401, 401, 401, 200, 200]);
      expect(await anna.me()).to.equal(null);
    });
  }

  it("gives an account that exists to no one by its email address alone", async () => {
    const api = await system.user();
    const { email = "" } = (await Users(system.worker.mongo).findById(api.userId).lean()) ?? {};
    await Users(system.worker.mongo).updateOne(
      { _id: api.userId },
      { $set: { email: `known-${email.replace("example", "acme")}` } },
    );
    const name = person({ email: `known-${email.replace("example", "acme")}` });
    expect(problemOf(await visitor().signIn(name))).to.equal("account-exists");
    expect(await Identities(system.worker.mongo).countDocuments({ user_id: api.userId })).to.equal(0);
    // An address that went to another person of the same provider.
    const anna = person();
    await visitor().signIn(anna);
    const heir = person({ email: `${anna}@acme.test` });
    expect(problemOf(await visitor().signIn(heir))).to.equal("account-exists");
  });

  it("makes one account for two first sign-ins at once", async () => {
    const name = person();
    const tabs = [visitor(), visitor(), visitor(), visitor()];
    const backs = await Promise.all(tabs.map(tab => tab.signInThere(name)));
    await Promise.all(tabs.map((tab, i) => tab.request(backs[i] as URL)));
    const ids = await Promise.all(tabs.map(async tab => (await tab.me())?.id));
    expect(new Set(ids).size).to.equal(1);
    expect(ids[0]).to.be.a("string");
  });

  it("knows the provider's new keys at once", async () => {
    await visitor().signIn(person());
    await provider.rotateKeys();
    const anna = visitor();
    await anna.signIn(person());
    expect(await anna.me()).not.to.equal(null);
  });

  it("says that the provider is away, keeps key sign-in, and works again when it is back", async () => {
    const anna = visitor();
    const back = await anna.signInThere(person());
    await provider.stop();
    expect(problemOf(await anna.request(back))).to.equal("provider-away");
    const api = await system.user();
    const byKey = await fetch(`${system.baseUrl}/sessions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ api_key: api.apiKey }),
    });
    expect(byKey.status).to.equal(201);
    await provider.start();
    const later = visitor();
    await later.signIn(person());
    expect(await later.me()).not.to.equal(null);
  });

  it("waits for the provider with so many people at once, and with no one beyond", async () => {
    const most = LIMITS.providerSignIns.value;
    const tabs = Array.from({ length: most }, visitor);
    const backs: URL[] = [];
    for (const tab of tabs) backs.push(await tab.signInThere(person()));
    const late = visitor();
    const back = await late.signInThere(person());
    const asked = () => provider.requests.filter(request => request === "POST /token").length;
    const before = asked();
    const release = provider.holdTokens();
    const waiting = tabs.map((tab, i) => tab.request(backs[i] as URL));
    try {
      await until(() => asked() === before + most);
      expect(problemOf(await late.request(back))).to.equal("provider-away");
      expect(asked()).to.equal(before + most);
    } finally {
      release();
    }
    const responses = await Promise.all(waiting);
    expect(responses.map(({ headers }) => headers.get("location")?.endsWith("/dashboard"))).not.to.include(
      false,
    );
    await late.signIn(person());
    expect(await late.me()).not.to.equal(null);
  });

  it("counts wrong returns from an address", async () => {
    const eve = visitor();
    const wrong = async () => {
      const begun = (await (await eve.begin()).json()) as { data: { url: string } };
      const back = new URL("/dashboard/sign-in/return?code=guessed", system.baseUrl);
      back.searchParams.set("state", new URL(begun.data.url).searchParams.get("state") ?? "");
      back.searchParams.set("iss", provider.issuer);
      return problemOf(await eve.request(back));
    };
    // Wrong keys at the same address are counted apart.
    const nobody = new Api(system.baseUrl, "");
    const guess = () => nobody.request("POST", "/sessions", { body: { api_key: `hw_${"x".repeat(32)}` } });
    for (let i = 0; i < LIMITS.signInGuesses.value; i++) expect((await guess()).status).to.equal(401);
    expect((await guess()).status).to.equal(429);
    const problems = [];
    for (let i = 0; i <= LIMITS.providerReturns.value; i++) problems.push(await wrong());
    expect(problems[0]).to.equal("not-proven");
    expect(problems.at(-1)).to.equal("too-many");
    const asked = provider.requests.length;
    expect(await wrong()).to.equal("too-many");
    expect(provider.requests.length, "the provider is not asked").to.equal(asked);
    const api = await system.user();
    expect((await nobody.request("POST", "/sessions", { body: { api_key: api.apiKey } })).status).to.equal(
      201,
    );
  });
});
