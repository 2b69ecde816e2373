import { expect } from "chai";
import { beginDeliverySweep } from "../../src/deliveries/sweep.ts";
import { WHOLE } from "../../src/lib/part.ts";
import { Deliveries } from "../../src/models/delivery.ts";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { deliveries } from "../../src/queues/deliveries.ts";
import { runWorker } from "../../src/queues/run-worker.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { sweep } from "../support/sweep.ts";
import { until } from "../support/until.ts";
import { emit, onlyDelivery, type Subscribed, subscribe } from "./fixtures.ts";

describe("sweep of deliveries", () => {
  let platform: TestPlatform;
  let now = Date.now();
  let listener: Subscribed;
  const queue = () => openedQueue(platform.queues, deliveries);
  const jobCount = () => queue().getJobCountByTypes("waiting", "prioritized", "delayed");
  const drains = async () =>
    (await queue().getJobs(["waiting", "prioritized", "delayed"])).map(({ data }) => data.webhook_id);

  beforeEach(async () => {
    now = Date.now();
    platform = await openTestPlatform({}, { process: "runs", clock: () => now });
    listener = await subscribe(platform, "http://127.0.0.1:1/");
    await emit(platform, [listener]);
  });
  afterEach(() => platform.destroy());

  it("drains the webhook of a delivery that was stored and never enqueued, once it is overdue", async () => {
    await queue().obliterate({ force: true });
    expect(await sweep(platform, "deliveries")).to.equal(0);
    now += platform.config.sweepEveryMs + 1;
    expect(await sweep(platform, "deliveries")).to.equal(1);
    expect(await drains()).to.deep.equal([listener.webhookId]);
  });

  it("ignores a delivery whose drain is still queued, and checks it ever less often", async () => {
    now += 60_000;
    expect(await sweep(platform, "deliveries")).to.equal(0);
    const { sweep_at_ms } = await onlyDelivery(platform, listener.webhookId);
    expect(sweep_at_ms).to.be.within(now + 59_000, now + 61_000);
    expect(await jobCount()).to.equal(1);
  });

  it("drains the webhook of a delivery whose drain failed and is kept", async () => {
    const fail = () => Promise.reject(new Error("a bug"));
    const worker = runWorker(
      deliveries,
      { "first-attempts": fail, "next-attempt": fail, drain: fail, recover: fail, replay: fail },
      {
        redis: platform.redis,
        prefix: platform.config.redisPrefix,
        concurrency: 1,
        stalledAfterMs: 2000,
        log: platform.log,
        metrics: platform.metrics,
      },
    );
    const job = (await queue().getJobs(["waiting", "prioritized", "delayed"]))[0];
    await job?.updateData({ ...job.data, due_ms: "not a number" });
    await until(async () => (await queue().getFailedCount()) === 1);
    await worker.close(2000);
    now += 60_000;
    expect(await sweep(platform, "deliveries")).to.equal(1);
    expect(await drains()).to.deep.equal([listener.webhookId]);
  });

  it("handles any number of overdue deliveries in batches", async () => {
    const { _id, ...rest } = await onlyDelivery(platform, listener.webhookId);
    const copies = Array.from({ length: 1200 }, (_, index) => ({ ...rest, _id: `${_id}x${index}` }));
    await Deliveries(platform.mongo).insertMany(copies);
    await queue().obliterate({ force: true });
    now += 60_000;
    expect(await sweep(platform, "deliveries")).to.equal(1201);
    expect(await drains(), "all in one").to.deep.equal([listener.webhookId]);
    expect(await sweep(platform, "deliveries")).to.equal(0);
  });

  it("ignores a delivery that is scheduled for later", async () => {
    await Deliveries(platform.mongo).updateOne(
      { webhook_id: listener.webhookId },
      { $set: { next_attempt_at_ms: now + 3_600_000, sweep_at_ms: now + 3_601_000 } },
    );
    await queue().obliterate({ force: true });
    now += 60_000;
    expect(await sweep(platform, "deliveries")).to.equal(0);
    expect(await jobCount()).to.equal(0);
  });

  it("counts none of a webhook as lost whose deliveries wait for a permit, and drains it once, in case nothing else does", async () => {
    const { _id, ...rest } = await onlyDelivery(platform, listener.webhookId);
    const copies = Array.from({ length: 1200 }, (_, index) => ({ ...rest, _id: `${_id}x${index}` }));
    await Deliveries(platform.mongo).insertMany(copies);
    await queue().obliterate({ force: true });
    const limits = { permits: 1, ttlMs: 600_000 };
    await platform.permits.acquire(listener.webhookId, ["one"], { ...limits, afterBacklog: false });
    const drain = { name: "drain", permit: "drain-0" };
    expect(await platform.permits.beginDrain(listener.webhookId, drain, limits)).to.equal("permit");
    now += 60_000;
    expect(await sweep(platform, "deliveries")).to.equal(0);
    expect(await drains()).to.deep.equal([listener.webhookId]);
  });

  it("leaves an attempt alone that has left its job, until it must have ended", async () => {
    const until = now + 90_000;
    await queue().obliterate({ force: true });
    await Deliveries(platform.mongo).updateMany(
      {},
      { $set: { next_attempt_at_ms: until, sweep_at_ms: until, in_flight_until_ms: until } },
    );
    now += 60_000;
    expect(await sweep(platform, "deliveries")).to.equal(0);
    expect(await jobCount()).to.equal(0);
    now += 30_001;
    expect(await sweep(platform, "deliveries"), "its process was killed").to.equal(1);
    expect(await drains()).to.deep.equal([listener.webhookId]);
  });

  it("deletes the waitlist that an earlier release kept in Redis", async () => {
    const { webhookWaitlist, webhookOverflow } = platform.keys;
    const [waitlist, overflow] = [webhookWaitlist(listener.webhookId), webhookOverflow(listener.webhookId)];
    await platform.redis.zadd(waitlist, 1, "{}");
    await platform.redis.hset(overflow, { count: "1201" });
    await queue().obliterate({ force: true });
    now += 60_000;
    expect(await sweep(platform, "deliveries")).to.equal(1);
    expect(await platform.redis.exists(waitlist, overflow)).to.equal(0);
    expect(await drains()).to.deep.equal([listener.webhookId]);
  });

  /** Stores copies of the only delivery whose retry is due now, without jobs; `changes` are those of each. */
  async function storeFarRetries(count: number, changes: (n: number) => object = () => ({})): Promise<void> {
    const row = await onlyDelivery(platform, listener.webhookId);
    const due = { next_attempt_at_ms: now, sweep_at_ms: now };
    const copies = Array.from({ length: count }, (_, n) => ({
      ...row,
      ...due,
      _id: `${row._id}x${n}`,
      ...changes(n),
    }));
    await Deliveries(platform.mongo).insertMany(copies);
    await Deliveries(platform.mongo).deleteOne({ _id: row._id });
    await queue().obliterate({ force: true });
  }
  it("drains webhooks of far retries as they become due, which counts as no repair", async () => {
    await storeFarRetries(5, n => ({ next_attempt_at_ms: now + n, sweep_at_ms: now + n }));
    now += 2;
    expect(await sweep(platform, "deliveries")).to.equal(0);
    expect(await drains()).to.deep.equal([listener.webhookId]);
  });

  it("makes one drain of any number that is due at a webhook", async () => {
    await storeFarRetries(3000);
    expect(await sweep(platform, "deliveries")).to.equal(0);
    expect(await drains()).to.deep.equal([listener.webhookId]);
  });

  it("looks for those of other accounts before it goes through all of one account's", async () => {
    await storeFarRetries(6000, n =>
      n < 5999
        ? {}
        : { owner_id: "u_other", webhook_id: "wh_other", next_attempt_at_ms: now, sweep_at_ms: now },
    );
    const { _id } = (await Deliveries(platform.mongo).findOne({ owner_id: "u_other" }).lean()) ?? {};
    // The last one in the index.
    now += 1;
    await Deliveries(platform.mongo).updateOne(
      { _id },
      { $set: { next_attempt_at_ms: now, sweep_at_ms: now } },
    );
    const next = beginDeliverySweep(platform, WHOLE);
    let batches = 0;
    while (!(await drains()).includes("wh_other")) {
      await next(null);
      batches += 1;
    }
    expect(batches, "batches of 500").to.be.at.most(5);
    while ((await next(null)).next !== null);
    const left = await Deliveries(platform.mongo).countDocuments({ sweep_at_ms: { $lte: now } });
    expect(left, "the turn goes on with the rest").to.equal(0);
  });
});
