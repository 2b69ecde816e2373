import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { until } from "../support/until.ts";

describe("places of a webhook", () => {
  let platform: TestPlatform;
  let id: string;
  const ttlMs = 60_000;
  const job = (n: number) => JSON.stringify({ delivery_id: `dlv_${n}`, webhook_id: id, generation: 1 });
  const enter = (n: number, limits: { permits?: number; perSecond?: number | null } = {}) =>
    platform.permits.acquireOrWait(id, `dlv_${n}-0`, job(n), {
      permits: 9,
      perSecond: null,
      ttlMs,
      ...limits,
    });
  const leave = (names: string[], limits: { permits?: number; perSecond?: number | null } = {}) =>
    platform.permits.release(id, names, { permits: 9, perSecond: null, ttlMs, ...limits });

  before(async () => {
    platform = await openTestPlatform({}, { process: "deliveries" });
  });
  beforeEach(() => {
    id = newId("wh");
  });
  after(() => platform.destroy());

  it("need a token too where the rate is limited, and say when the next one comes", async () => {
    const limits = { perSecond: 8 };
    expect(await enter(1, limits)).to.deep.equal({ acquired: true, tokenInMs: 0 });
    expect((await enter(2, limits)).acquired).to.equal(true);
    const third = await enter(3, limits);
    expect(third.acquired).to.equal(false);
    expect(third.tokenInMs).to.be.within(1, 125);
    expect(await enter(1, limits), "one that has its place needs no other token").to.include({
      acquired: true,
    });
  });

  it("ask for no token where it is a place that is missing, and give both to who is next in line", async () => {
    const limits = { permits: 1, perSecond: 4 };
    await enter(1, limits);
    expect(await enter(2, limits)).to.deep.equal({ acquired: false, tokenInMs: 0 });
    const { granted, tokenInMs } = await leave(["dlv_1-0"], limits);
    expect(granted).to.deep.equal([]);
    expect(tokenInMs).to.be.within(1, 250);
    await until(async () => (await leave([], limits)).granted.length === 1, {
      what: "the second is granted in",
    });
    expect(await platform.redis.zrange(platform.keys.webhookPermits(id), "0", "-1")).to.deep.equal([
      "dlv_2-1",
    ]);
    expect(await leave([], limits), "nobody waits any more").to.deep.equal({ granted: [], tokenInMs: 0 });
  });

  it("keep a token for each in line, and half of the bucket for a long line", async () => {
    for (const n of [1, 2, 3]) await enter(n, { permits: 1 });
    const newcomers = () => platform.permits.acquireTokens(id, 1000, 4000, true);
    expect((await newcomers()).acquired).to.equal(998);
    await platform.redis.del(platform.keys.webhookTokens(id));
    for (let n = 4; n < 700; n++) await enter(n, { permits: 1 });
    expect((await newcomers()).acquired).to.equal(500);
    expect((await platform.permits.acquireTokens(id, 300, 4000, false)).acquired).to.equal(300);
  });

  it("keep all tokens for the line where there are hardly any", async () => {
    for (const n of [1, 2]) await enter(n, { permits: 1 });
    expect((await platform.permits.acquireTokens(id, 1, 1, true)).acquired).to.equal(0);
    expect((await platform.permits.acquireTokens(id, 1, 1, false)).acquired).to.equal(1);
  });

  it("give a quarter of a second's tokens at once and not more, however long none was acquired", async () => {
    expect(await platform.permits.acquireTokens(id, 1000, 400, true)).to.deep.include({ acquired: 100 });
    await until(async () => (await platform.permits.acquireTokens(id, 100, 400, true)).acquired > 0);
    const key = platform.keys.webhookTokens(id);
    await platform.redis.hset(key, { tokens: "0", at: String(Date.now() - 5000) });
    expect(await platform.permits.acquireTokens(id, 1000, 400, true)).to.deep.include({ acquired: 100 });
  });

  it("are kept by who takes them again under the same name", async () => {
    const take = (...names: string[]) => platform.permits.acquire(id, names, 1, ttlMs);
    expect(await take("turn-1")).to.equal(1);
    expect(await take("turn-2")).to.equal(0);
    expect(await take("turn-1")).to.equal(1);
  });
});
