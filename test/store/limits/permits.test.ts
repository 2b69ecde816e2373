import { expect } from "chai";
import { newId } from "../../../src/lib/ids.ts";
import { openTestPlatform, type TestPlatform } from "../../support/platform.ts";
import { until } from "../../support/until.ts";

describe("permits of a webhook", () => {
  let platform: TestPlatform;
  let id: string;
  const ttlMs = 60_000;
  const limits = (permits: number) => ({ permits, ttlMs });
  const acquire = async (names: string[], permits: number, afterBacklog = false) =>
    await platform.permits.acquire(id, names, { ...limits(permits), afterBacklog });
  const begin = (name: string, permits: number) =>
    platform.permits.beginDrain(id, { name, permit: `${name}-0` }, limits(permits));
  const end = (name: string, permits: number, leavesBacklog = false) =>
    platform.permits.endDrain(id, { name, permits: [`${name}-0`], leavesBacklog }, permits);
  const names = (count: number, prefix = "p") => Array.from({ length: count }, (_, n) => `${prefix}${n}`);

  before(async () => {
    platform = await openTestPlatform({}, { process: "deliveries" });
  });
  beforeEach(() => {
    id = newId("wh");
  });
  after(() => platform.destroy());

  it("are granted no more often than there are, and can be acquired again under the same name", async () => {
    expect((await acquire(["a", "b", "c"], 2)).acquired).to.equal(2);
    expect((await acquire(["d"], 2)).acquired).to.equal(0);
    expect((await acquire(["a"], 2)).acquired).to.equal(1);
    await platform.permits.release(id, ["a"], 2);
    const all = await Promise.all(names(12).map(name => acquire([name], 2)));
    expect(all.filter(({ acquired }) => acquired === 1)).to.have.length(1);
    expect(await platform.redis.zcard(platform.keys.webhookPermits(id))).to.equal(2);
  });

  it("let one drain be under way; a second one follows it", async () => {
    expect(await begin("one", 9)).to.equal("begun");
    expect(await begin("two", 9)).to.equal("drain");
    expect(await begin("one", 9), "in a job that is started again").to.equal("begun");
    expect(await end("one", 9)).to.equal(true);
    expect(await begin("two", 9)).to.equal("begun");
    expect(await end("two", 9)).to.equal(false);
    expect(await platform.redis.exists(platform.keys.webhookDrains(id))).to.equal(0);
  });

  it("have a webhook drained by whoever releases one, if a drain found none", async () => {
    await acquire(["a", "b"], 2);
    expect(await begin("one", 2)).to.equal("permit");
    expect(await platform.permits.release(id, ["a"], 2)).to.equal(true);
    expect(await begin("two", 2)).to.equal("begun");
    expect(await platform.permits.release(id, ["b"], 2), "a drain is under way").to.equal(false);
    await end("two", 2);
    expect(await platform.permits.release(id, ["b"], 2), "nothing waits any more").to.equal(false);
  });

  it("leave half of them to a backlog, and all if there is one", async () => {
    await acquire(["a"], 9);
    await begin("one", 9);
    await end("one", 9, true);
    expect(await acquire(names(9), 9, true)).to.deep.equal({ acquired: 3, isSecond: true });
    expect((await acquire(names(9, "of-drain"), 9)).acquired).to.equal(5);
    id = newId("wh");
    await begin("one", 1);
    await end("one", 1, true);
    expect(await acquire(["a"], 1, true)).to.deep.equal({ acquired: 0, isSecond: true });
    expect((await acquire(["a"], 1)).acquired).to.equal(1);
  });

  it("keep half of the tokens for a backlog, and all if the rate is very low", async () => {
    const newcomers = (wanted: number, perSecond: number) =>
      platform.permits.acquireTokens(id, wanted, perSecond, true);
    expect((await newcomers(1000, 4000)).acquired).to.equal(1000);
    await platform.redis.del(platform.keys.webhookTokens(id));
    await begin("one", 1);
    await end("one", 1, true);
    expect((await newcomers(1000, 4000)).acquired).to.equal(500);
    expect((await platform.permits.acquireTokens(id, 300, 4000, false)).acquired).to.equal(300);
    await platform.redis.del(platform.keys.webhookTokens(id));
    expect((await newcomers(1, 1)).acquired).to.equal(0);
    expect((await platform.permits.acquireTokens(id, 1, 1, false)).acquired).to.equal(1);
  });

  it("come with the time of the next token", async () => {
    const tokens = (wanted: number) => platform.permits.acquireTokens(id, wanted, 8, false);
    expect(await tokens(3)).to.deep.include({ acquired: 2 });
    const { acquired, nextInMs } = await tokens(1);
    expect(acquired).to.equal(0);
    expect(nextInMs).to.be.within(1, 125);
    await until(async () => (await tokens(1)).acquired === 1, { what: "the next token" });
  });

  it("hold at most a quarter of a second's tokens, however long none was acquired", async () => {
    expect(await platform.permits.acquireTokens(id, 1000, 400, true)).to.deep.include({ acquired: 100 });
    await until(async () => (await platform.permits.acquireTokens(id, 100, 400, true)).acquired > 0);
    const key = platform.keys.webhookTokens(id);
    await platform.redis.hset(key, { tokens: "0", at: String(Date.now() - 5000) });
    expect(await platform.permits.acquireTokens(id, 1000, 400, true)).to.deep.include({ acquired: 100 });
  });

  it("are gone with their webhook", async () => {
    await acquire(["a"], 9);
    await begin("one", 9);
    await platform.permits.acquireTokens(id, 1, 8, false);
    await platform.permits.delete(id);
    expect(await platform.redis.keys(`*${id}*`)).to.deep.equal([]);
  });
});
