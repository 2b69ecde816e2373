import { expect } from "chai";
import { rateLimit } from "../../src/http/rate-limit.ts";
import { createKeyRateLimiter } from "../../src/store/limits/key-rate.ts";
import { type DemoServer, startDemo } from "./demo-server.ts";
import { absentRedis, openTestRedis, type TestRedis } from "./redis.ts";

describe("http/rate-limit", () => {
  let store: TestRedis;
  let demo: DemoServer;
  // Windows so long that none ends during a test.
  const options = { points: 3, durationS: 600, burst: 5 };

  before(async () => {
    store = await openTestRedis();
    const consume = createKeyRateLimiter(store.redis, { keyPrefix: store.prefix, ...options });
    demo = await startDemo({ rateLimit: rateLimit(consume) });
  });
  after(async () => {
    await demo.close();
    await store.close();
  });

  const path = "/v1/things/t_one";

  it("allows the points and the burst of a key, then responds 429 with Retry-After", async () => {
    const responses = [];
    for (let i = 0; i < 7; i++) responses.push(await demo.send({ path }));
    expect(responses.map(response => response.status)).to.deep.equal([200, 200, 200, 200, 200, 429, 429]);
    expect(responses.map(response => response.headers["ratelimit-remaining"]).slice(0, 4)).to.deep.equal([
      "2",
      "1",
      "0",
      "0",
    ]);
    const last = responses[6];
    expect(last?.json.title).to.equal("Too many requests");
    expect(last?.headers).to.include({ "ratelimit-limit": "3", "ratelimit-policy": "3;w=600" });
    for (const name of ["retry-after", "ratelimit-reset"]) {
      expect(Number(last?.headers[name])).to.be.within(1, 600);
    }
  });

  it("counts each key separately, and does not count public routes", async () => {
    expect((await demo.send({ path: "/v1/things/t_bob", key: "key-bob" })).status).to.equal(200);
    const open = await demo.send({ path: "/v1/live" });
    expect([open.status, open.headers["ratelimit-limit"]]).to.deep.equal([200, undefined]);
  });

  it("lets requests pass if Redis is away", async () => {
    const redis = absentRedis();
    const consume = createKeyRateLimiter(redis, { keyPrefix: "away", ...options });
    const cut = await startDemo({ rateLimit: rateLimit(consume) });
    for (let i = 0; i < 7; i++) expect((await cut.send({ path })).status).to.equal(200);
    expect(cut.lines.some(line => String(line.msg).includes("rate limit"))).to.equal(true);
    await cut.close();
    redis.disconnect();
  });
});
