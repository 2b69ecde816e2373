import { request } from "node:http";
import { expect } from "chai";
import { allQueues } from "../../src/queues/index.ts";
import { type System, startSystem } from "../support/system.ts";

const PASSWORD = "a board's pässword: with a colon";

const basic = (user: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`,
});

describe("the board", () => {
  let system: System;
  before(async () => {
    system = await startSystem({ ADMIN_PASSWORD: PASSWORD }, { workers: false });
  });
  after(() => system.stop());

  const ask = (path: string, headers: Record<string, string> = {}, method = "GET") =>
    fetch(new URL(path, system.baseUrl), { headers, method });

  const rejected: [string, Record<string, string>][] = [
    ["nothing", {}],
    ["a wrong password", basic("admin", "wrong")],
    ["a prefix of the password", basic("admin", PASSWORD.slice(0, -1))],
    ["another user", basic("root", PASSWORD)],
    ["an API key", { authorization: "Bearer hw_x" }],
    ["invalid base64", { authorization: "Basic \u00ff" }],
    ["only a scheme", { authorization: "Basic" }],
  ];
  for (const [what, headers] of rejected) {
    it(`responds 401 to ${what}, for its page and its API`, async () => {
      for (const path of ["/admin/queues", "/admin/queues/", "/admin/queues/api/queues"]) {
        const response = await ask(path, headers);
        expect(response.status, path).to.equal(401);
        expect(response.headers.get("www-authenticate")).to.match(/^Basic realm=/);
        expect(await response.text()).not.to.match(/runs|emissions/);
      }
    });
  }

  it("shows every queue to the admin", async () => {
    const page = await ask("/admin/queues", basic("admin", PASSWORD));
    expect(page.status).to.equal(200);
    expect(page.headers.get("content-type")).to.include("text/html");
    const html = await page.text();
    const [, script = ""] = /src="([^"]+\.js)"/.exec(html) ?? [];
    const [, base = "/admin/queues/"] = /<base href="([^"]+)"/.exec(html) ?? [];
    const asset = await ask(
      new URL(script, new URL(base, system.baseUrl)).pathname,
      basic("admin", PASSWORD),
    );
    expect(asset.status).to.equal(200);
    const queues = await ask("/admin/queues/api/queues", basic("ADMIN".toLowerCase(), PASSWORD));
    expect(
      ((await queues.json()) as { queues: { name: string }[] }).queues.map(({ name }) => name),
    ).to.have.members(allQueues.map(({ name }) => name));
  });

  it("accepts changes from its own page, and none from another site in the admin's browser", async () => {
    const pause = "/admin/queues/api/queues/deletions/pause";
    const queue = system.web.queues.get("deletions");
    const crossSite = { ...basic("admin", PASSWORD), "sec-fetch-site": "cross-site" };
    expect((await ask(pause, crossSite, "PUT")).status).to.equal(403);
    expect(await queue?.isPaused()).to.equal(false);
    const own = { ...basic("admin", PASSWORD), "sec-fetch-site": "same-origin" };
    expect((await ask(pause, own, "PUT")).status).to.equal(200);
    expect(await queue?.isPaused()).to.equal(true);
  });

  it("is served at its own path only", async () => {
    expect((await ask("/admin/queuesx", basic("admin", PASSWORD))).status).to.equal(404);
    expect((await ask("/admin", basic("admin", PASSWORD))).status).to.equal(404);
  });
});

describe("guessing the board's password", () => {
  let system: System;
  before(async () => {
    system = await startSystem({ ADMIN_PASSWORD: PASSWORD }, { workers: false });
  });
  after(() => system.stop());

  /** Sends a request from an address of this machine; returns status and `Retry-After`. */
  const ask = (from: string, headers: Record<string, string>) =>
    new Promise<{ status: number; retryAfter: string | undefined }>((done, failed) => {
      const url = new URL("/admin/queues/api/queues", system.baseUrl);
      request(url, { localAddress: from, headers, agent: false }, response => {
        response.resume().once("end", () => {
          done({ status: response.statusCode ?? 0, retryAfter: response.headers["retry-after"] });
        });
      })
        .once("error", failed)
        .end();
    });
  const guess = (from: string, password: string, headers: Record<string, string> = {}) =>
    ask(from, { ...basic("admin", password), ...headers });

  it("is limited to 20 wrong guesses per address, and then rejects the right password too", async () => {
    for (let i = 0; i < 20; i++) expect((await guess("127.0.0.5", `wrong ${i}`)).status).to.equal(401);
    const rejected = await guess("127.0.0.5", "wrong again");
    expect(rejected.status).to.equal(429);
    expect(Number(rejected.retryAfter)).to.be.within(1, 15 * 60);
    expect((await guess("127.0.0.5", PASSWORD)).status).to.equal(429);
    const disguised = { "x-forwarded-for": "203.0.113.7", forwarded: "for=203.0.113.7" };
    expect((await guess("127.0.0.5", PASSWORD, disguised)).status).to.equal(429);
    expect((await guess("127.0.0.6", PASSWORD)).status).to.equal(200);
  });

  it("is limited for concurrent guesses too", async () => {
    const guesses = Array.from({ length: 60 }, (_, i) => guess("127.0.0.7", `wrong ${i}`));
    const statuses = (await Promise.all(guesses)).map(({ status }) => status);
    expect(statuses.filter(status => status === 401)).to.have.length(20);
    expect(statuses.filter(status => status === 429)).to.have.length(40);
  });

  it("does not count the right password or a request without one", async () => {
    for (let i = 0; i < 30; i++) {
      expect((await ask("127.0.0.8", {})).status).to.equal(401);
      expect((await guess("127.0.0.8", PASSWORD)).status).to.equal(200);
    }
  });

  it("is counted by the address that the proxy in front saw", async () => {
    const proxied = await startSystem({ ADMIN_PASSWORD: PASSWORD, TRUST_PROXY: "true" }, { workers: false });
    try {
      const at = async (forwarded: string, password: string) => {
        const headers = { ...basic("admin", password), "x-forwarded-for": forwarded };
        return (await fetch(new URL("/admin/queues/api/queues", proxied.baseUrl), { headers })).status;
      };
      // A client can forge all addresses before the last one. An IPv6 client controls its whole /64.
      for (let i = 0; i < 20; i++) {
        expect(await at(`203.0.113.${i}, 2001:db8:1:2::${i}`, "wrong")).to.equal(401);
      }
      expect(await at("203.0.113.99, 2001:db8:1:2:ffff::1", PASSWORD)).to.equal(429);
      expect(await at("203.0.113.99, 2001:db8:1:3::1", PASSWORD)).to.equal(200);
    } finally {
      await proxied.stop();
    }
  });
});

describe("without ADMIN_PASSWORD", () => {
  let system: System;
  before(async () => {
    system = await startSystem({}, { workers: false });
  });
  after(() => system.stop());

  it("there is no board, whatever the credentials", async () => {
    for (const headers of [{}, basic("admin", ""), basic("admin", "undefined")]) {
      const response = await fetch(new URL("/admin/queues", system.baseUrl), { headers });
      expect(response.status).to.equal(404);
      expect(response.headers.get("www-authenticate")).to.equal(null);
    }
  });
});
