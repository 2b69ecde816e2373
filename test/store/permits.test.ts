import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import { openPermits } from "../../src/store/permits.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { until } from "../support/until.ts";

describe("permits of a webhook", () => {
  let platform: TestPlatform;
  let id: string;
  const ttlMs = 60_000;
  const job = (n: number) => JSON.stringify({ delivery_id: `dlv_${n}`, webhook_id: id, generation: 1 });
  const requestOf = (n: number) => ({ name: `dlv_${n}-0`, waiting: { job: job(n), name: `dlv_${n}-1` } });
  const acquireOrWait = (
    n: number,
    {
      mayBeHeld = false,
      ...limits
    }: { permits?: number; perSecond?: number | null; mayBeHeld?: boolean } = {},
  ) =>
    platform.permits.acquireOrWait(
      id,
      { ...requestOf(n), mayBeHeld },
      { permits: 9, perSecond: null, ttlMs, ...limits },
    );
  const release = (names: string[], limits: { permits?: number; perSecond?: number | null } = {}) =>
    platform.permits.release(id, names, { permits: 9, perSecond: null, ttlMs, ...limits });

  before(async () => {
    platform = await openTestPlatform({}, { process: "deliveries" });
  });
  beforeEach(() => {
    id = newId("wh");
  });
  after(() => platform.destroy());

  it("need a token too if the rate is limited, and report when the next token is available", async () => {
    const limits = { perSecond: 8 };
    expect(await acquireOrWait(1, limits)).to.deep.equal({ acquired: true, held: null, tokenInMs: 0 });
    expect((await acquireOrWait(2, limits)).acquired).to.equal(true);
    const third = await acquireOrWait(3, limits);
    expect(third.acquired).to.equal(false);
    expect(third.tokenInMs).to.be.within(1, 125);
    expect(await acquireOrWait(1, limits), "a job that holds its permit needs no second token").to.include({
      acquired: true,
    });
  });

  it("use no token while a permit is missing, and grant both to the next on the waitlist", async () => {
    const limits = { permits: 1, perSecond: 4 };
    await acquireOrWait(1, limits);
    expect(await acquireOrWait(2, limits)).to.deep.equal({
      acquired: false,
      held: null,
      tokenInMs: 0,
    });
    const { granted, tokenInMs } = await release(["dlv_1-0"], limits);
    expect(granted).to.deep.equal([]);
    expect(tokenInMs).to.be.within(1, 250);
    await until(async () => (await release([], limits)).granted.length === 1, {
      what: "the second job to be granted",
    });
    expect(await platform.redis.zrange(platform.keys.webhookPermits(id), "0", "-1")).to.deep.equal([
      "dlv_2-1",
    ]);
    expect(await release([], limits), "an empty waitlist").to.deep.equal({
      granted: [],
      tokenInMs: 0,
      mustRefill: false,
    });
  });

  it("are not acquired for a delivery that waits or was granted one since, whoever asks again", async () => {
    const limits = { permits: 1 };
    await acquireOrWait(1, limits);
    await acquireOrWait(2, limits);
    expect(await acquireOrWait(2), "it waits: the waitlist is to be drained").to.deep.equal({
      acquired: false,
      held: null,
      tokenInMs: 1,
    });
    expect((await release(["dlv_1-0"], limits)).granted).to.deep.equal([job(2)]);
    const { acquired, held } = await acquireOrWait(2);
    expect([acquired, held?.isNext], "it was granted").to.deep.equal([false, true]);
    expect(await platform.redis.zcard(platform.keys.webhookWaitlist(id))).to.equal(0);
  });

  it("are not acquired again by a caller that is not the job that may hold them", async () => {
    expect((await acquireOrWait(1, { mayBeHeld: true })).acquired).to.equal(true);
    const { acquired, held } = await acquireOrWait(1, { mayBeHeld: true });
    expect([acquired, held?.isNext]).to.deep.equal([false, false]);
    expect(held?.forMs, "milliseconds since it was acquired").to.be.within(0, 5000);
    expect((await acquireOrWait(1)).acquired, "the job itself").to.equal(true);
    await release(["dlv_1-0"]);
    expect((await acquireOrWait(1, { mayBeHeld: true })).acquired).to.equal(true);
  });

  it("reserve a token for each waiting job, and half of the bucket for a long waitlist", async () => {
    for (const n of [1, 2, 3]) await acquireOrWait(n, { permits: 1 });
    const newcomers = () => platform.permits.acquireTokens(id, 1000, 4000, true);
    expect((await newcomers()).acquired).to.equal(998);
    await platform.redis.del(platform.keys.webhookTokens(id));
    for (let n = 4; n < 700; n++) await acquireOrWait(n, { permits: 1 });
    expect((await newcomers()).acquired).to.equal(500);
    expect((await platform.permits.acquireTokens(id, 300, 4000, false)).acquired).to.equal(300);
  });

  it("reserve all tokens for the waitlist if the rate is very low", async () => {
    for (const n of [1, 2]) await acquireOrWait(n, { permits: 1 });
    expect((await platform.permits.acquireTokens(id, 1, 1, true)).acquired).to.equal(0);
    expect((await platform.permits.acquireTokens(id, 1, 1, false)).acquired).to.equal(1);
  });

  it("hold at most a quarter of a second's tokens, however long none was acquired", async () => {
    expect(await platform.permits.acquireTokens(id, 1000, 400, true)).to.deep.include({ acquired: 100 });
    await until(async () => (await platform.permits.acquireTokens(id, 100, 400, true)).acquired > 0);
    const key = platform.keys.webhookTokens(id);
    await platform.redis.hset(key, { tokens: "0", at: String(Date.now() - 5000) });
    expect(await platform.permits.acquireTokens(id, 1000, 400, true)).to.deep.include({ acquired: 100 });
  });

  it("let fewer wait as Redis passes its high-water mark, and count the others until they are refilled", async () => {
    let allowed = 1;
    const permits = openPermits(platform.redis, platform.keys, {
      memory: { allowed: () => allowed },
      mostWaiting: 1000,
    });
    const limits = { permits: 1, perSecond: null, ttlMs };
    const wait = (n: number) => permits.acquireOrWait(id, requestOf(n), limits);
    const waiting = () => platform.redis.zcard(platform.keys.webhookWaitlist(id));
    const names = (n: number): [string, string] => [`dlv_${n}-1`, `dlv_${n}-0`];
    const refill = async (isAll: boolean, ...numbers: number[]) =>
      await permits.refill(
        id,
        numbers.map(n => ({ job: job(n), names: names(n) })),
        { overflow: await permits.overflow(id), isAll },
      );
    allowed = 0.5;
    for (let n = 0; n <= 510; n++) await wait(n);
    expect(await waiting()).to.equal(500);
    expect(await permits.overflow(id)).to.equal("10");
    expect(await refill(true, 501), "while it is full").to.deep.equal({ added: 0, isFull: true });
    allowed = 0;
    await platform.redis.zpopmin(platform.keys.webhookWaitlist(id), 400);
    for (let n = 600; n < 800; n++) await wait(n);
    expect(await waiting(), "however full Redis is").to.equal(200);

    await platform.redis.zpopmin(platform.keys.webhookWaitlist(id), 180);
    const { mustRefill } = await permits.release(id, [], limits);
    expect(mustRefill).to.equal(true);
    expect((await permits.release(id, [], limits)).mustRefill, "asked for a moment ago").to.equal(false);
    expect(await refill(false, 900, 901)).to.deep.equal({ added: 2, isFull: false });
    expect(await permits.overflow(id), "more are left").to.be.a("string");
    const before = await permits.overflow(id);
    await platform.redis.hincrby(platform.keys.webhookOverflow(id), "count", 1);
    await permits.refill(id, [], { overflow: before, isAll: true });
    expect(await permits.overflow(id), "one came in between").to.be.a("string");
    expect(await refill(true, 0, 900), "one holds a permit, one waits already").to.include({ added: 0 });
    expect(await permits.overflow(id)).to.equal(null);
    await permits.delete(id);
    expect(await waiting()).to.equal(0);
  });

  it("can be acquired again under the same name", async () => {
    const acquire = async (...names: string[]) =>
      (await platform.permits.acquire(id, names, 1, ttlMs)).acquired;
    expect(await acquire("drain-1")).to.equal(1);
    expect(await acquire("drain-2")).to.equal(0);
    expect(await acquire("drain-1")).to.equal(1);
  });
});
