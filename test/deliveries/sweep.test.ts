import { expect } from "chai";
import { permitTtlMs, waitlistEntry } from "../../src/deliveries/limits/permits.ts";
import { beginDeliverySweep } from "../../src/deliveries/sweep.ts";
import { WHOLE } from "../../src/lib/part.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { Deliveries } from "../../src/models/delivery.ts";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { deliveries, nextAttemptOf } from "../../src/queues/deliveries.ts";
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
  const generation = async () => (await onlyDelivery(platform, listener.webhookId)).generation;

  beforeEach(async () => {
    now = Date.now();
    platform = await openTestPlatform({}, { process: "runs", clock: () => now });
    listener = await subscribe(platform, "http://127.0.0.1:1/");
    await emit(platform, [listener]);
  });
  afterEach(() => platform.destroy());

  it("enqueues a delivery that was stored and never enqueued, once it is overdue", async () => {
    const { _id } = await onlyDelivery(platform, listener.webhookId);
    await queue().remove(`${_id}-0`);
    expect(await sweep(platform, "deliveries")).to.equal(0);
    now += platform.config.sweepEveryMs + 1;
    expect(await sweep(platform, "deliveries")).to.equal(1);
    expect((await queue().getJob(`${_id}-0`))?.data).to.include({ delivery_id: _id, generation: 0 });
  });

  it("ignores a delivery whose job is still queued, and checks it ever less often", async () => {
    now += 60_000;
    expect(await sweep(platform, "deliveries")).to.equal(0);
    const { sweep_at_ms } = await onlyDelivery(platform, listener.webhookId);
    expect(sweep_at_ms).to.be.within(now + 59_000, now + 61_000);
    expect(await queue().getJobCountByTypes("waiting", "prioritized")).to.equal(1);
  });

  it("starts a new generation of a delivery whose job failed and is kept", async () => {
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
    const job = (await queue().getJobs(["waiting", "prioritized"]))[0];
    await job?.updateData({ ...job.data, generation: "not a number" });
    await until(async () => (await queue().getFailedCount()) === 1);
    await worker.close(2000);
    now += 60_000;
    expect(await sweep(platform, "deliveries")).to.equal(1);
    expect(await generation()).to.equal(1);
    expect(
      (await queue().getJobs(["waiting", "prioritized"])).map(({ data }) => data.generation),
    ).to.deep.equal([1]);
  });

  it("handles any number of overdue deliveries in batches", async () => {
    const { _id, ...rest } = await onlyDelivery(platform, listener.webhookId);
    const copies = Array.from({ length: 1200 }, (_, index) => ({ ...rest, _id: `${_id}x${index}` }));
    await Deliveries(platform.mongo).insertMany(copies);
    now += 60_000;
    expect(await sweep(platform, "deliveries")).to.equal(1200);
    expect(await sweep(platform, "deliveries")).to.equal(0);
  });

  it("ignores a delivery that is scheduled for later", async () => {
    await Deliveries(platform.mongo).updateOne(
      { webhook_id: listener.webhookId },
      { $set: { next_attempt_at_ms: now + 3_600_000, sweep_at_ms: now + 3_601_000 } },
    );
    const { _id } = await onlyDelivery(platform, listener.webhookId);
    await queue().remove(`${_id}-0`);
    now += 60_000;
    expect(await sweep(platform, "deliveries")).to.equal(0);
  });

  it("enqueues nothing for deliveries that wait on a waitlist, and drains their webhook once", async () => {
    const { _id, ...rest } = await onlyDelivery(platform, listener.webhookId);
    const copies = Array.from({ length: 1200 }, (_, index) => ({ ...rest, _id: `${_id}x${index}` }));
    await Deliveries(platform.mongo).insertMany(copies);
    await queue().obliterate({ force: true });
    const waiting = [...copies, { ...rest, _id }].map(delivery =>
      waitlistEntry(nextAttemptOf({ ...delivery, generation: delivery.generation + 1 })),
    );
    const waitlist = platform.keys.webhookWaitlist(listener.webhookId);
    await platform.redis.zadd(waitlist, ...waiting.flatMap((entry, index) => [index, entry]));
    now += 60_000;
    expect(await sweep(platform, "deliveries")).to.equal(0);
    const jobs = await queue().getJobs(["waiting", "delayed"]);
    expect(jobs.map(({ name, data }) => [name, data.reason])).to.deep.equal([["drain", "tokens"]]);
  });

  const ttlMs = () => permitTtlMs(platform, {});

  /** Grants the only delivery a permit from the waitlist so many milliseconds ago, and enqueues no job. */
  async function grant(agoMs: number): Promise<string> {
    const { _id, webhook_id, ...rest } = await onlyDelivery(platform, listener.webhookId);
    await queue().remove(`${_id}-0`);
    const next = nextAttemptOf({ _id, webhook_id, ...rest, generation: 1 });
    await platform.redis.zadd(platform.keys.webhookWaitlist(webhook_id), 1, waitlistEntry(next));
    const limits = { permits: 1, perSecond: null, ttlMs: ttlMs() - agoMs };
    const { granted } = await platform.permits.release(webhook_id, [], limits);
    expect(granted).to.deep.equal([waitlistEntry(next)]);
    return _id;
  }

  it("enqueues nothing for a delivery that was granted its permit and whose job is just being enqueued", async () => {
    await grant(0);
    now += 60_000;
    expect(await sweep(platform, "deliveries")).to.equal(0);
    expect(await jobCount(), "a second job beside the one that is granted").to.equal(0);
    const { sweep_at_ms } = await onlyDelivery(platform, listener.webhookId);
    expect(sweep_at_ms, "it looks again soon").to.equal(now + 5000);
  });

  it("enqueues a delivery whose job was lost after it had been granted its permit, which it keeps", async () => {
    const id = await grant(6000);
    now += 60_000;
    expect(await sweep(platform, "deliveries")).to.equal(1);
    const job = await queue().getJob(`${id}-1`);
    expect(job?.data).to.include({ delivery_id: id, generation: 1 });
    const held = await platform.redis.zrange(platform.keys.webhookPermits(listener.webhookId), "0", "-1");
    expect(held).to.deep.equal([`${id}-1`]);
    now += 120_000;
    expect(await sweep(platform, "deliveries"), "now it has a job").to.equal(0);
    expect(await jobCount()).to.equal(1);
  });

  it("enqueues nothing for a delivery whose attempt has just begun, and whose job is not stored any more", async () => {
    const { _id, webhook_id } = await onlyDelivery(platform, listener.webhookId);
    await queue().remove(`${_id}-0`);
    expect(await platform.permits.acquire(webhook_id, [`${_id}-0`], 1, ttlMs())).to.include({ acquired: 1 });
    now += 60_000;
    await sweep(platform, "deliveries");
    expect(await jobCount()).to.equal(0);
  });

  it("enqueues nothing for a delivery that has moved on since, although a job held its permit for long", async () => {
    const id = await grant(6000);
    now += 60_000;
    const rows = Deliveries(platform.mongo);
    const due = await rows.findOne({ _id: id }, { sweep_at_ms: 1 }).lean();
    const next = beginDeliverySweep(platform, WHOLE);
    // Between the look for overdue deliveries and the one for their permits.
    const acquire = platform.permits.acquireOrWait;
    platform.permits.acquireOrWait = async (...args) => {
      const acquired = await acquire(...args);
      await rows.updateOne({ _id: id }, { $set: { sweep_at_ms: now + ttlMs() } });
      return acquired;
    };
    await next(null);
    expect(due?.sweep_at_ms).to.be.below(now);
    expect(await jobCount()).to.equal(0);
    expect((await rows.findById(id).lean())?.sweep_at_ms).to.equal(now + ttlMs());
  });

  it("enqueues nothing for deliveries that did not fit on a waitlist, and has it refilled once", async () => {
    const { _id, ...rest } = await onlyDelivery(platform, listener.webhookId);
    const copies = Array.from({ length: 1200 }, (_, index) => ({ ...rest, _id: `${_id}x${index}` }));
    await Deliveries(platform.mongo).insertMany(copies);
    await queue().obliterate({ force: true });
    await platform.redis.hset(platform.keys.webhookOverflow(listener.webhookId), { count: "1201" });
    now += 60_000;
    expect(await sweep(platform, "deliveries")).to.equal(0);
    const jobs = await queue().getJobs(["waiting", "delayed"]);
    expect(jobs.map(({ name, data }) => [name, data.reason])).to.deep.equal([["drain", "refill"]]);
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
  it("enqueues far retries as they become due, which counts as no repair", async () => {
    await storeFarRetries(5, n => ({ next_attempt_at_ms: now + n, sweep_at_ms: now + n }));
    now += 2;
    expect(await sweep(platform, "deliveries")).to.equal(0);
    expect(await jobCount()).to.equal(3);
  });

  it("makes of any number that is due at a webhook no more jobs than there are permits; the rest waits there", async () => {
    await storeFarRetries(3000);
    expect(await sweep(platform, "deliveries")).to.equal(0);
    const permits = platform.config.deliveries.perWebhook;
    const attempts = (await queue().getJobs(["waiting", "prioritized"])).filter(
      ({ name }) => name === "next-attempt",
    );
    expect(attempts).to.have.length(permits);
    const waiting = await platform.redis.zcard(platform.keys.webhookWaitlist(listener.webhookId));
    expect(waiting).to.equal(LIMITS.waitlist.value);
    expect(await platform.permits.overflow(listener.webhookId)).to.be.a("string");
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
    while (!(await queue().getJob(`${_id}-0`))) {
      await next(null);
      batches += 1;
    }
    expect(batches, "batches of 500").to.be.at.most(5);
    while ((await next(null)).next !== null);
    const left = await Deliveries(platform.mongo).countDocuments({ sweep_at_ms: { $lte: now } });
    expect(left, "the turn goes on with the rest").to.equal(0);
  });
});
