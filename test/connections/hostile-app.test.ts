import type { ServerResponse } from "node:http";
import { expect } from "chai";
import { connectProps } from "../../src/connections/connect-props.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { type Connection, Connections } from "../../src/models/connection.ts";
import type { Api } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { type AppServer, CookieBrowser, registerApp, startAppServer } from "./app-server.ts";

const SCRIPT = "<script>alert(1)</script>";
const HOUR_MS = 3_600_000;

/** How an app's token endpoint may respond to anything, and the error code that a connection has then. */
const json =
  (body: unknown, status = 200) =>
  (response: ServerResponse) =>
    void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
const RESPONSES: [what: string, respond: (response: ServerResponse) => void, code: string][] = [
  ["500 without a body", response => void response.writeHead(500).end(), "app-away"],
  [
    "a page of a proxy",
    response => void response.writeHead(200, { "content-type": "text/html" }).end(SCRIPT),
    "app-away",
  ],
  [
    "10 MB",
    response =>
      void response.writeHead(200, { "content-type": "application/json" }).end(Buffer.alloc(10_000_000, "x")),
    "app-away",
  ],
  [
    "a redirect",
    response => void response.writeHead(302, { location: "http://127.0.0.1:9/" }).end(),
    "app-away",
  ],
  [
    "half a response",
    response => void response.writeHead(200, { "content-length": 99 }).write("{", () => response.destroy()),
    "app-away",
  ],
  [
    "a script in its description",
    json({ error: "invalid_request", error_description: SCRIPT }, 400),
    "invalid_request",
  ],
  ["a script as its code", json({ error: SCRIPT, error_description: SCRIPT }, 400), "app-error"],
  ["a token that is not text", json({ access_token: { a: 1 }, token_type: "bearer" }), "app-error"],
  ["an empty token", json({ access_token: "", token_type: "bearer" }), "app-error"],
  ["a list", json([1, 2]), "app-error"],
];

describe("an app that misbehaves", () => {
  let shiftMs = 0;
  let system: System;
  let api: Api & { userId: string };
  let server: AppServer;
  before(async () => {
    system = await startSystem({}, { workers: false });
    Object.defineProperty(system.worker, "clock", { value: () => Date.now() + shiftMs });
    server = await startAppServer(system.web.config.publicUrl);
    await registerApp(system.web, server);
  });
  after(async () => {
    await server?.stop();
    await system?.stop();
  });
  beforeEach(async () => {
    shiftMs = 0;
    server.impostor = null;
    api = await system.user({ plan: "paid" });
  });

  const ask = (path = "/connections/consents"): Promise<{ connection_id: string; url: string }> =>
    api.expect(201, "POST", path, path.endsWith("consents") ? { body: { app: "demo" } } : {});
  const impostor = (respond: (response: ServerResponse) => void) => {
    server.impostor = (request, response) => void request.resume().on("end", () => respond(response));
  };
  const stored = async (id: string) =>
    (await Connections(system.web.mongo).findById(id).lean<Connection>()) as Connection;

  async function consent(url: string, browser = new CookieBrowser()) {
    return browser.request(await browser.consent(await browser.agree(url)));
  }
  async function connect(): Promise<string> {
    const { url, connection_id } = await ask();
    expect((await consent(url)).status).to.equal(200);
    return connection_id;
  }
  /** What a run finds in `$auth`, an hour and a bit later, or the error. */
  async function authLater(authProvisionId: string): Promise<Record<string, string> | Error> {
    shiftMs += HOUR_MS + 60_000;
    await system.worker.routing.refresh();
    const props = [{ name: "demo", type: "app", app: "demo" }];
    const values = { demo: { authProvisionId } };
    return connectProps(system.worker, api.userId, { props, values }).then(
      connected => (connected.values.demo as { $auth: Record<string, string> }).$auth,
      (error: Error) => error,
    );
  }

  for (const [what, respond, code] of RESPONSES) {
    it(`with ${what} connects nothing, and its renewal is tried again later`, async () => {
      const id = await connect();
      impostor(respond);
      const { url, connection_id } = await ask();
      const page = await consent(url);
      expect(page.status).to.equal(400);
      expect(page.text).to.contain("Not connected").and.not.to.contain("<script>");
      expect((await api.request("GET", `/connections/${connection_id}`)).status).to.equal(404);

      const failed = await authLater(id);
      expect(String(failed)).to.contain(id).and.not.to.contain("<script>");
      const { health, fault, retry_at_ms } = await stored(id);
      expect([health, fault?.code]).to.deep.equal(["failing", code]);
      expect(fault?.message).not.to.contain("script");
      expect(retry_at_ms).to.be.above(Date.now() + shiftMs - 60_000);
      server.impostor = null;
      expect(await authLater(id)).to.have.property("oauth_access_token");
      expect((await stored(id)).health).to.equal("working");
    });
  }

  it("that never responds keeps neither a person nor a run waiting for long @long", async () => {
    const id = await connect();
    const { url } = await ask();
    const browser = new CookieBrowser();
    const returned = await browser.consent(await browser.agree(url));
    // One says nothing at all, the other begins and goes on saying nothing.
    let isFirst = true;
    server.impostor = (_, response) => {
      if (!isFirst) response.writeHead(200, { "content-type": "application/json" }).write("{");
      isFirst = false;
    };
    const [page, failed] = await Promise.all([browser.request(returned), authLater(id)]);
    expect(page.text).to.contain("can&#39;t be reached right now");
    expect(String(failed)).to.contain(id);
    expect((await stored(id)).fault?.code).to.equal("app-away");
  });

  it("may leave a refresh token out when it renews: the one that it gave goes on", async () => {
    const id = await connect();
    const seen: string[] = [];
    server.impostor = (request, response) => {
      let body = "";
      request.on("data", chunk => {
        body += chunk;
      });
      request.on("end", () => {
        seen.push(new URLSearchParams(body).get("refresh_token") ?? "");
        json({ access_token: `t${seen.length}`, token_type: "bearer", expires_in: 3600 })(response);
      });
    };
    expect(await authLater(id)).to.deep.equal({ oauth_access_token: "t1" });
    expect(await authLater(id)).to.deep.equal({ oauth_access_token: "t2" });
    expect(new Set(seen).size).to.equal(1);
    expect(server.issued).to.include(seen[0]);
  });

  it("that gives no refresh token ends the connection when its token has ended", async () => {
    impostor(json({ access_token: "only", token_type: "bearer", expires_in: 3600 }));
    const id = await connect();
    server.impostor = null;
    expect(String(await authLater(id))).to.contain("reconnect it");
    const { health, fault } = await stored(id);
    expect([health, fault?.code]).to.deep.equal(["broken", "no-refresh-token"]);
  });

  it("can't make a connection grow with each renewal", async () => {
    const id = await connect();
    let renewals = 0;
    impostor(response => {
      renewals += 1;
      const others = Array.from({ length: 30 }, (_, n) => [`field_${renewals}_${n}`, "x".repeat(1000)]);
      const token = { access_token: "t", token_type: "bearer", expires_in: 3600 };
      json({ ...token, ...Object.fromEntries(others) })(response);
    });
    for (let n = 0; n < 3; n += 1) await authLater(id);
    expect(renewals).to.equal(3);
    const { field_names } = await stored(id);
    expect(field_names.length).to.equal(LIMITS.connectionFields.value + 1);
    expect(field_names, "of the last").to.include("field_3_0");
  });

  it("may say any time for which its token lives: the connection is shown, and goes on", async () => {
    for (const expires_in of [1e300, Number.MAX_SAFE_INTEGER, 0.25, "1e999", -5, "soon"]) {
      impostor(json({ access_token: "t", refresh_token: "r", token_type: "bearer", expires_in }));
      const id = await connect();
      const { expires_at } = await api.expect(200, "GET", `/connections/${id}`);
      // The last moment that a date can have.
      if (expires_at !== null) expect(expires_at, String(expires_in)).to.be.within(1, 8.64e12);
      expect(await authLater(id), String(expires_in)).to.deep.equal({ oauth_access_token: "t" });
    }
  });

  it("that says nothing of the scope at a reconnect leaves none of the old one", async () => {
    impostor(json({ access_token: "t", token_type: "bearer", scope: "read write" }));
    const id = await connect();
    expect((await stored(id)).scope).to.equal("read write");
    impostor(json({ access_token: "u", token_type: "bearer" }));
    expect((await consent((await ask(`/connections/${id}/reconnect`)).url)).status).to.equal(200);
    expect((await stored(id)).scope).to.equal(null);
  });
});

describe("the return of a consent", () => {
  let system: System;
  let api: Api & { userId: string };
  let server: AppServer;
  before(async () => {
    system = await startSystem({}, { workers: false });
    api = await system.user({ plan: "paid" });
    server = await startAppServer(system.web.config.publicUrl);
    await registerApp(system.web, server);
  });
  after(async () => {
    await server?.stop();
    await system?.stop();
  });
  const ask = (): Promise<{ connection_id: string; url: string }> =>
    api.expect(201, "POST", "/connections/consents", { body: { app: "demo" } });

  const tampered: [what: string, change: (query: URLSearchParams) => void][] = [
    ["two codes", query => query.append("code", "another")],
    ["two states", query => query.append("state", query.get("state") ?? "")],
    ["an issuer that is not the app's", query => query.set("iss", "https://evil.example")],
    ["no issuer, where the app has one", query => query.delete("iss")],
    ["no code", query => query.delete("code")],
    ["a code of 8 KB", query => query.set("code", "x".repeat(8000))],
    ["a code with line ends", query => query.set("code", "a\r\nb: c\u0000")],
    [
      "a token in place of a code",
      query => {
        query.delete("code");
        query.set("access_token", "t");
      },
    ],
    [
      "an error with script",
      query => {
        query.set("error", SCRIPT);
        query.set("error_description", SCRIPT);
      },
    ],
  ];
  for (const [what, change] of tampered) {
    it(`with ${what} connects nothing, and is used up`, async () => {
      const { url, connection_id } = await ask();
      const browser = new CookieBrowser();
      const returned = new URL(await browser.consent(await browser.agree(url)));
      const right = returned.href;
      change(returned.searchParams);
      for (const address of [returned.href, right]) {
        const page = await browser.request(address);
        expect(page.status, page.text).to.equal(400);
        expect(page.text).to.contain("Not connected").and.not.to.contain("<script>");
      }
      expect((await api.request("GET", `/connections/${connection_id}`)).status).to.equal(404);
    });
  }

  it("to an address that the operator has not named to the app never leaves the app", async () => {
    const { url } = await ask();
    const browser = new CookieBrowser();
    for (const address of [
      "https://evil.example/",
      `${system.web.config.publicUrl}/connections/return/../x`,
    ]) {
      const away = new URL(await browser.agree((await ask()).url));
      away.searchParams.set("redirect_uri", address);
      const page = await browser.request(away.href);
      expect([page.status, page.location]).to.deep.equal([400, null]);
    }
    expect((await browser.request(url)).status, "another link still works").to.equal(200);
  });

  it("of another person's consent connects nothing to one's own account", async () => {
    const stranger = await system.user();
    const theirs = await stranger.expect(201, "POST", "/connections/consents", { body: { app: "demo" } });
    const mine = await ask();
    const [me, them] = [new CookieBrowser(), new CookieBrowser()];
    const myReturn = new URL(await me.consent(await me.agree(mine.url)));
    const theirReturn = new URL(await them.consent(await them.agree(theirs.url)));
    // Their code with my state, and their whole return in my browser.
    myReturn.searchParams.set("code", theirReturn.searchParams.get("code") ?? "");
    for (const address of [myReturn.href, theirReturn.href]) {
      expect((await me.request(address)).status).to.equal(400);
    }
    for (const id of [mine.connection_id, theirs.connection_id]) {
      for (const caller of [api, stranger]) {
        expect((await caller.request("GET", `/connections/${id}`)).status).to.equal(404);
      }
    }
  });

  it("to a consent that is too old connects nothing", async () => {
    const { redis, config } = system.web;
    const [unopened, { url, connection_id }] = [await ask(), await ask()];
    const browser = new CookieBrowser();
    const returned = await browser.consent(await browser.agree(url));
    for (const key of await redis.keys(`${config.redisPrefix}:consent-*`)) await redis.pexpire(key, 1);
    await until(async () => (await redis.keys(`${config.redisPrefix}:consent-*`)).length === 0);
    for (const address of [returned, unopened.url]) {
      const page = await browser.request(address);
      expect([page.status, page.text]).to.satisfy(() => page.text.includes("too old"));
    }
    expect((await api.request("GET", `/connections/${connection_id}`)).status).to.equal(404);
  });

  it("that arrives twice at once connects once", async () => {
    const { url, connection_id } = await ask();
    const browser = new CookieBrowser();
    const returned = await browser.consent(await browser.agree(url));
    const pages = await Promise.all([1, 2, 3].map(() => browser.request(returned)));
    expect(pages.map(({ status }) => status).sort()).to.deep.equal([200, 400, 400]);
    expect((await api.request("GET", `/connections/${connection_id}`)).status).to.equal(200);
  });
});
