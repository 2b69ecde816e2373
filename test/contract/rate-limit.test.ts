import { expect } from "chai";
import { openPlatform, type Platform } from "../../src/platform.ts";
import { startWeb, type WebServer } from "../../src/server.ts";
import { Api } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const PER_SECOND = 5;
const BURST = 2 * PER_SECOND;

/** docs/design.md#errors */
describe("the rate limit of an API key", () => {
  let system: System;
  let second: Platform;
  let server: WebServer;

  before(async () => {
    const env = { RATE_LIMITS: `api:${PER_SECOND}` };
    system = await startSystem(env, { workers: false });
    second = await openPlatform(system.web.config, "web");
    server = await startWeb(second);
  });
  after(async () => {
    await server.close();
    await second.close();
    await system.stop();
  });

  it("is shared by all web processes, shown in headers, and separate for each key", async () => {
    const [greedy, other] = [await system.user(), await system.user()];
    const clients = [greedy, new Api(`http://127.0.0.1:${server.port}/v1`, greedy.apiKey)];
    const startedAt = performance.now();
    const responses = await Promise.all(
      Array.from({ length: 80 }, (_, i) => (clients[i % 2] as Api).request("GET", "/users/me")),
    );
    const seconds = Math.ceil((performance.now() - startedAt) / 1000);

    const passed = responses.filter(response => response.status === 200);
    const rejected = responses.filter(response => response.status === 429);
    expect(passed.length + rejected.length).to.equal(responses.length);
    // With one limit per process, twice as many would pass.
    expect(passed.length)
      .to.be.at.least(BURST)
      .and.at.most(BURST + seconds * PER_SECOND);
    for (const client of [0, 1]) {
      expect(
        responses.filter((response, i) => i % 2 === client && response.status === 429),
      ).not.to.deep.equal([]);
    }
    for (const { headers } of responses) {
      expect(headers.get("ratelimit-limit")).to.equal(String(PER_SECOND));
      expect(headers.get("ratelimit-policy")).to.equal(`${PER_SECOND};w=1`);
      expect(Number(headers.get("ratelimit-remaining"))).to.be.within(0, BURST);
      expect(Number(headers.get("ratelimit-reset"))).to.be.at.least(1);
    }
    for (const { headers, body } of rejected) {
      expect(body).to.deep.equal({
        type: "/docs/errors#rate-limited",
        title: "Too many requests",
        status: 429,
        detail: "too many requests with this API key",
        error: "too many requests with this API key",
      });
      expect(Number(headers.get("retry-after"))).to.be.at.least(1);
    }
    expect((await other.request("GET", "/users/me")).status).to.equal(200);
    await until(async () => (await greedy.request("GET", "/users/me")).status === 200, {
      what: "requests of the key pass again",
    });
  });
});
