import { request } from "node:http";
import { expect } from "chai";
import { INSTALLATION } from "../../src/audit/record.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { AuditEntries } from "../../src/models/audit-entry.ts";
import { Sessions } from "../../src/ops/sign-in.ts";
import { allQueues } from "../../src/queues/index.ts";
import { growQueueShards } from "../../src/store/queue-shards.ts";
import { shardedEnv } from "../support/shards.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { signIn } from "./admin.ts";

const PASSWORD = "a board's pässword: with a colon";
const PAUSE = "/admin/queues/api/queues/deletions/pause";

interface Options {
  headers?: Record<string, string>;
  method?: string;
  form?: Record<string, string>;
}

const ask = (system: System, path: string, { headers = {}, method = "GET", form }: Options = {}) =>
  fetch(new URL(path, system.baseUrl), {
    headers,
    method,
    redirect: "manual",
    ...(form && { body: new URLSearchParams(form) }),
  });

describe("the board", () => {
  let system: System;
  let origin: string;
  let cookie: string;
  before(async () => {
    system = await startSystem({ ADMIN_PASSWORD: PASSWORD }, { workers: false });
    ({ origin } = new URL(system.baseUrl));
    cookie = await signIn(system.baseUrl, PASSWORD);
  });
  after(() => system.stop());

  const basic = (password: string) => `Basic ${Buffer.from(`admin:${password}`).toString("base64")}`;

  it("leads to its sign-in page without a session, and never asks a browser for a password", async () => {
    const { secretsKeys } = system.web.config;
    const sessions = new Sessions(secretsKeys, PASSWORD, 60_000);
    const others = new Sessions([Buffer.alloc(32)], PASSWORD, 60_000);
    const rejected: [string, Record<string, string>][] = [
      ["nothing", {}],
      ["Basic", { authorization: basic(PASSWORD) }],
      ["a wrong Basic", { authorization: basic("wrong") }],
      ["an API key", { authorization: "Bearer hw_x" }],
      ["another cookie", { cookie: "headwater_board=x" }],
      ["a forged session", { cookie: `headwater_board=${others.start(Date.now())}` }],
      ["an expired session", { cookie: `headwater_board=${sessions.start(Date.now() - 60_000)}` }],
    ];
    for (const [what, headers] of rejected) {
      for (const path of ["/admin/queues", "/admin/queues/", "/admin/queues/queue/runs"]) {
        const page = await ask(system, path, { headers });
        expect([page.status, page.headers.get("location")], `${what} ${path}`).to.deep.equal([
          303,
          "/admin/sign-in",
        ]);
      }
      const api = await ask(system, "/admin/queues/api/queues", { headers });
      expect(api.status, what).to.equal(401);
      expect(api.headers.get("www-authenticate")).to.equal(null);
      expect(await api.text()).not.to.match(/runs|emissions/);
      const change = await ask(system, PAUSE, { headers: { ...headers, origin }, method: "PUT" });
      expect(change.status, what).to.equal(401);
    }
  });

  it("shows every queue to the operator who has signed in", async () => {
    const headers = { cookie };
    const page = await ask(system, "/admin/queues", { headers });
    expect(page.status).to.equal(200);
    expect(page.headers.get("content-type")).to.include("text/html");
    const html = await page.text();
    const [, script = ""] = /src="([^"]+\.js)"/.exec(html) ?? [];
    const [, base = "/admin/queues/"] = /<base href="([^"]+)"/.exec(html) ?? [];
    const asset = await ask(system, new URL(script, new URL(base, system.baseUrl)).pathname, { headers });
    expect(asset.status).to.equal(200);
    const queues = await ask(system, "/admin/queues/api/queues", { headers });
    expect(
      ((await queues.json()) as { queues: { name: string }[] }).queues.map(({ name }) => name),
    ).to.have.members(allQueues.map(({ name }) => name));
  });

  it("gives a cookie that only its own pages receive, for 12 hours", async () => {
    const form = { password: PASSWORD };
    const response = await ask(system, "/admin/sign-in", { method: "POST", headers: { origin }, form });
    expect([response.status, response.headers.get("location")]).to.deep.equal([303, "/admin/queues"]);
    const [, ...attributes] = (response.headers.get("set-cookie") ?? "").split("; ");
    expect(attributes).to.have.members(["Path=/admin", "Max-Age=43200", "HttpOnly", "SameSite=Strict"]);
  });

  it("gives a Secure cookie if PUBLIC_URL is https", async () => {
    const { config } = system.web;
    const replace = (value: typeof config) => Object.defineProperty(system.web, "config", { value });
    replace({ ...config, publicUrl: "https://headwater.example" });
    try {
      const form = { password: PASSWORD };
      const response = await ask(system, "/admin/sign-in", { method: "POST", headers: { origin }, form });
      expect(response.headers.get("set-cookie")).to.match(/; Secure$/);
    } finally {
      replace(config);
    }
  });

  it("knows a session no longer after it was signed out, even with its cookie", async () => {
    const own = await signIn(system.baseUrl, PASSWORD);
    const see = async () =>
      (await ask(system, "/admin/queues/api/queues", { headers: { cookie: own } })).status;
    expect(await see()).to.equal(200);
    const headers = { cookie: own, origin };
    const out = await ask(system, "/admin/sign-out", { method: "POST", headers });
    expect([out.status, out.headers.get("location")]).to.deep.equal([303, "/admin/sign-in"]);
    expect(out.headers.get("set-cookie")).to.match(/^headwater_board=; Path=\/admin; Max-Age=0;/);
    expect(await see()).to.equal(401);
    expect((await ask(system, "/admin/queues/api/queues", { headers: { cookie } })).status).to.equal(200);
  });

  const foreign: [string, (own: string) => Record<string, string>][] = [
    ["no origin at all, as an old browser or a script", () => ({})],
    ["another site, over plain http", () => ({ origin: "http://evil.example" })],
    ["another port of this host", own => ({ origin: own.replace(/\d+$/, "1") })],
    ["a sandboxed page, such as a component's", () => ({ origin: "null" })],
    [
      "this host by the other scheme",
      own => ({ origin: own.replace("http:", "https:").replace(/:\d+$/, "") }),
    ],
    ["something that is not an origin", () => ({ origin: "x" })],
    [
      "this origin, in a request that the browser calls cross-site",
      own => ({ origin: own, "sec-fetch-site": "cross-site" }),
    ],
    [
      "this origin, in a request that the browser calls same-site",
      own => ({ origin: own, "sec-fetch-site": "same-site" }),
    ],
  ];
  for (const [who, headersOf] of foreign) {
    it(`accepts no change, sign-in or sign-out from ${who}`, async () => {
      const headers = { cookie, ...headersOf(origin) };
      const form = { password: PASSWORD };
      const responses = [
        await ask(system, PAUSE, { headers, method: "PUT" }),
        await ask(system, "/admin/sign-in", { headers, method: "POST", form }),
        await ask(system, "/admin/sign-out", { headers, method: "POST" }),
      ];
      for (const response of responses) {
        expect(response.status).to.equal(403);
        expect(response.headers.get("set-cookie")).to.equal(null);
      }
      expect(await system.web.queues.get("deletions")?.isPaused()).to.equal(false);
      expect((await ask(system, "/admin/queues", { headers: { cookie } })).status).to.equal(200);
    });
  }

  it("accepts changes from its own page", async () => {
    const queue = system.web.queues.get("deletions");
    const accepted: Record<string, string>[] = [{}, { "sec-fetch-site": "same-origin" }];
    for (const headers of accepted) {
      expect(
        (await ask(system, PAUSE, { headers: { cookie, origin, ...headers }, method: "PUT" })).status,
      ).to.equal(200);
      expect(await queue?.isPaused()).to.equal(true);
      await queue?.resume();
    }
    await ask(system, "/admin/queues/api/queues", { headers: { cookie } });
    const entries = await AuditEntries(system.worker.mongo).find({ owner_id: INSTALLATION }).lean();
    expect(entries).to.have.length(accepted.length);
    expect(entries[0]).to.deep.include({
      ...{ action: "queue.changed", thing: { id: "deletions", name: "deletions pause" } },
      ...{ address: "127.0.0.1", fields: [], outcome: "done" },
    });
    expect(entries[0]?.actor.kind).to.equal("operator");
  });

  it("is served at its own paths only", async () => {
    const headers = { cookie };
    for (const path of ["/admin/queuesx", "/adminx", "/admin/sign-inx"]) {
      expect((await ask(system, path, { headers })).status, path).to.equal(404);
    }
    expect((await ask(system, "/admin", { headers })).headers.get("location")).to.equal("/admin/queues");
  });
});

describe("guessing the board's password", () => {
  let system: System;
  before(async () => {
    system = await startSystem({ ADMIN_PASSWORD: PASSWORD }, { workers: false });
  });
  after(() => system.stop());

  /** Sends a password from an address of this machine; returns status and `Retry-After`. */
  const guess = (from: string, password: string, headers: Record<string, string> = {}) =>
    new Promise<{ status: number; retryAfter: string | undefined }>((done, failed) => {
      const url = new URL("/admin/sign-in", system.baseUrl);
      const all = { origin: url.origin, ...headers };
      request(url, { method: "POST", localAddress: from, headers: all, agent: false }, response => {
        response.resume().once("end", () => {
          done({ status: response.statusCode ?? 0, retryAfter: response.headers["retry-after"] });
        });
      })
        .once("error", failed)
        .end(String(new URLSearchParams({ password })));
    });

  const wrong = ["", "wrong", PASSWORD.slice(0, -1), `${PASSWORD}x`, PASSWORD.toUpperCase()];
  it("gives no session", async () => {
    for (const password of wrong) {
      const response = await ask(system, "/admin/sign-in", {
        method: "POST",
        headers: { origin: new URL(system.baseUrl).origin, "x-forwarded-for": "x" },
        form: { password },
      });
      expect(response.status, password).to.equal(401);
      expect(response.headers.get("set-cookie")).to.equal(null);
      expect(response.headers.get("www-authenticate")).to.equal(null);
    }
  });

  it("is limited to 20 wrong guesses per address, and then rejects the right password too", async () => {
    for (let i = 0; i < LIMITS.boardGuesses.value; i++)
      expect((await guess("127.0.0.5", `wrong ${i}`)).status).to.equal(401);
    const rejected = await guess("127.0.0.5", "wrong again");
    expect(rejected.status).to.equal(429);
    expect(Number(rejected.retryAfter)).to.be.within(1, 15 * 60);
    expect((await guess("127.0.0.5", PASSWORD)).status).to.equal(429);
    const disguised = { "x-forwarded-for": "203.0.113.7", forwarded: "for=203.0.113.7" };
    expect((await guess("127.0.0.5", PASSWORD, disguised)).status).to.equal(429);
    expect((await guess("127.0.0.6", PASSWORD)).status).to.equal(303);
  });

  it("is limited for concurrent guesses too", async () => {
    const guesses = Array.from({ length: 60 }, (_, i) => guess("127.0.0.7", `wrong ${i}`));
    const statuses = (await Promise.all(guesses)).map(({ status }) => status);
    expect(statuses.filter(status => status === 401)).to.have.length(LIMITS.boardGuesses.value);
    expect(statuses.filter(status => status === 429)).to.have.length(40);
  });

  it("does not count the right password", async () => {
    for (let i = 0; i < 30; i++) expect((await guess("127.0.0.8", PASSWORD)).status).to.equal(303);
  });

  it("is counted by the address that the proxy in front saw", async () => {
    const proxied = await startSystem({ ADMIN_PASSWORD: PASSWORD, TRUST_PROXY: "true" }, { workers: false });
    try {
      const at = async (forwarded: string, password: string) => {
        const headers = { origin: new URL(proxied.baseUrl).origin, "x-forwarded-for": forwarded };
        return (await ask(proxied, "/admin/sign-in", { method: "POST", headers, form: { password } })).status;
      };
      // A client can forge all addresses before the last one. An IPv6 client controls its whole /64.
      for (let i = 0; i < 20; i++) {
        expect(await at(`203.0.113.${i}, 2001:db8:1:2::${i}`, "wrong")).to.equal(401);
      }
      expect(await at("203.0.113.99, 2001:db8:1:2:ffff::1", PASSWORD)).to.equal(429);
      expect(await at("203.0.113.99, 2001:db8:1:3::1", PASSWORD)).to.equal(303);
    } finally {
      await proxied.stop();
    }
  });

  it("can't be done with a form of any size", async () => {
    const headers = { origin: new URL(system.baseUrl).origin };
    const form = { password: "x".repeat(5000) };
    expect((await ask(system, "/admin/sign-in", { method: "POST", headers, form })).status).to.equal(413);
  });
});

describe("the board of an installation with shards", () => {
  let system: System;
  before(async () => {
    system = await startSystem(
      { ADMIN_PASSWORD: PASSWORD, ...(await shardedEnv({ deliveries: 2 })) },
      { workers: false },
    );
  });
  after(() => system.stop());

  it("shows each shard, those too that came after it was opened @long", async () => {
    const headers = { cookie: await signIn(system.baseUrl, PASSWORD) };
    const shown = async () => {
      const response = await ask(system, "/admin/queues/api/queues", { headers });
      const { queues } = (await response.json()) as { queues: { name: string }[] };
      return queues.map(({ name }) => name).filter(name => name.startsWith("deliveries"));
    };
    expect(await shown()).to.have.members(["deliveries", "deliveries.1"]);
    await growQueueShards(system.web, new Map([["deliveries", 3]]), 0);
    await until(async () => (await shown()).includes("deliveries.2"), { what: "the third shard" });
  });
});

describe("without ADMIN_PASSWORD", () => {
  let system: System;
  before(async () => {
    system = await startSystem({}, { workers: false });
  });
  after(() => system.stop());

  it("there is no board, whatever the credentials", async () => {
    const token = new Sessions(system.web.config.secretsKeys, "undefined", 60_000).start(Date.now());
    const credentials: Record<string, string>[] = [{}, { cookie: `headwater_board=${token}` }];
    for (const headers of credentials) {
      for (const path of ["/admin", "/admin/queues", "/admin/sign-in"]) {
        expect((await ask(system, path, { headers })).status).to.equal(404);
      }
    }
  });
});
