import { expect } from "chai";
import { openPlatform, type Platform } from "../../src/platform.ts";
import { startWeb, type WebServer } from "../../src/server.ts";
import { Api } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const PER_SECOND = 5;
const BURST = 15;

/** design.md, "Errors": a limit per key, counted in Redis. */
describe("the rate limit of a key, over two web processes", () => {
  let system: System;
  let second: Platform;
  let server: WebServer;

  before(async () => {
    const env = { RATE_LIMIT_PER_SECOND: String(PER_SECOND), RATE_LIMIT_BURST: String(BURST) };
    system = await startSystem(env, { workers: false });
    second = await openPlatform(system.web.config, "web");
    server = await startWeb(second);
  });
  after(async () => {
    await server.close();
    await second.close();
    await system.stop();
  });

  it("is one limit, told in headers, and another key's is untouched", async () => {
    const [greedy, other] = [await system.user(), await system.user()];
    const clients = [greedy, new Api(`http://127.0.0.1:${server.port}/v1`, greedy.apiKey)];
    const startedAt = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 80 }, (_, i) => (clients[i % 2] as Api).request("GET", "/users/me")),
    );
    const seconds = Math.ceil((performance.now() - startedAt) / 1000);

    const passed = answers.filter(answer => answer.status === 200);
    const refused = answers.filter(answer => answer.status === 429);
    expect(passed.length + refused.length).to.equal(answers.length);
    // One limit each would be twice as many.
    expect(passed.length)
      .to.be.at.least(BURST)
      .and.at.most(BURST + seconds * PER_SECOND);
    for (const half of [0, 1]) {
      expect(answers.filter((answer, i) => i % 2 === half && answer.status === 429)).not.to.deep.equal([]);
    }
    for (const { headers } of answers) {
      expect(headers.get("ratelimit-limit")).to.equal(String(PER_SECOND));
      expect(headers.get("ratelimit-policy")).to.equal(`${PER_SECOND};w=1`);
      expect(Number(headers.get("ratelimit-remaining"))).to.be.within(0, BURST);
      expect(Number(headers.get("ratelimit-reset"))).to.be.at.least(1);
    }
    for (const { headers, body } of refused) {
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
      what: "the key passes again",
    });
  });
});
