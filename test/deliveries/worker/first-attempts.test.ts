import { expect } from "chai";
import { createDeliveries, deliveryId } from "../../../src/deliveries/dispatch/create.ts";
import { dispatchEvents } from "../../../src/deliveries/dispatch/dispatch.ts";
import { releasePermits } from "../../../src/deliveries/limits/webhook-limits.ts";
import { newId } from "../../../src/lib/ids.ts";
import { Deliveries } from "../../../src/models/delivery.ts";
import { type StoredEvent, StoredEvents } from "../../../src/models/event.ts";
import { Subscriptions } from "../../../src/models/subscription.ts";
import { openedQueue } from "../../../src/queues/define-queue.ts";
import { deliveries, type FirstAttempts } from "../../../src/queues/deliveries.ts";
import type { RunningWorker } from "../../../src/queues/run-worker.ts";
import { readDrops } from "../../../src/store/events/drops.ts";
import { deleteWebhook } from "../../../src/webhooks/webhooks.ts";
import { start as startDeliveries } from "../../../workers/deliveries.ts";
import { openTestPlatform, type TestPlatform } from "../../support/platform.ts";
import { type Receiver, startReceiver } from "../../support/receiver.ts";
import { sweep } from "../../support/sweep.ts";
import { until } from "../../support/until.ts";
import { deliveriesOf, EMITTER, OWNER, type Subscribed, subscribe, webhookOf } from "../fixtures.ts";

describe("first attempts", () => {
  let platform: TestPlatform;
  let receiver: Receiver;
  let worker: RunningWorker | undefined;
  let emitted = 0;
  /** How far the platform's clock is ahead. */
  let aheadMs = 0;
  const clock = () => Date.now() + aheadMs;

  beforeEach(async () => {
    aheadMs = 0;
    platform = await openTestPlatform({}, { process: "deliveries", clock });
    receiver = await startReceiver(200);
  });
  afterEach(async () => {
    await receiver.close();
    await worker?.close(3000);
    worker = undefined;
    await platform.destroy();
  });

  /** An event as the emissions worker has it, not stored yet. */
  function event(body: unknown = { hello: "world" }): StoredEvent {
    emitted += 1;
    const now = clock();
    return {
      _id: `${EMITTER}-${newId("emit")}`,
      emitter_id: EMITTER,
      owner_id: OWNER,
      event_id: `${now}-${emitted % 1024}`,
      score: now * 1024 + (emitted % 1024),
      name: "",
      event: JSON.stringify(body),
      has_webhook_listeners: true,
      created_at: new Date(now),
    };
  }

  const emit = (events: StoredEvent[], to: Subscribed[], isRedispatch = false) =>
    dispatchEvents(
      platform,
      events.map(one => ({
        event: one,
        listeners: to.map(({ subscriptionId, webhookId }) => ({
          _id: subscriptionId,
          listener_id: webhookId,
          owner_id: OWNER,
        })),
        isRedispatch,
      })),
    );
  const queue = () => openedQueue(platform.queues, deliveries);
  const jobs = async () =>
    (await queue().getJobs(["waiting", "prioritized"], 0, -1, true)).map(job => job.data as FirstAttempts);
  const idle = () =>
    until(async () => (await queue().getJobCountByTypes("waiting", "prioritized", "active")) === 0, {
      what: "an empty queue",
    });
  const start = () => {
    worker = startDeliveries(platform);
  };
  const stored = (one: StoredEvent) => StoredEvents(platform.mongo).findById(one._id).lean<StoredEvent>();

  it("are packed into a few jobs, all attempts of an event into one", async () => {
    const to = await Promise.all(Array.from({ length: 10 }, () => subscribe(platform, receiver.url)));
    const events = Array.from({ length: 20 }, (_, n) => event(n));
    await emit(events, to);
    const all = await jobs();
    expect(all.length).to.be.within(2, 10);
    expect(all.flatMap(job => job.events.map(one => one.id))).to.deep.equal(events.map(one => one._id));
    for (const job of all) for (const one of job.events) expect(one.listeners).to.have.length(10);
  });

  it("are recorded as deliveries once made, and the event's pending dispatch is cleared", async () => {
    const to = [await subscribe(platform, receiver.url), await subscribe(platform, receiver.url)];
    const one = event({ n: 1 });
    await emit([one], to);
    expect(await deliveriesOf(platform, to[0]?.webhookId ?? "")).to.deep.equal([]);
    expect((await stored(one))?.pending_dispatch?.listeners).to.have.length(2);
    start();
    await idle();
    for (const { webhookId, subscriptionId } of to) {
      const [delivery, ...others] = await deliveriesOf(platform, webhookId);
      expect(others).to.deep.equal([]);
      expect(delivery).to.include({
        _id: deliveryId({ id: one._id, event_id: one.event_id }, subscriptionId),
        state: "delivered",
        event_id: one.event_id,
      });
      expect(delivery?.attempts.map(({ number, status }) => [number, status])).to.deep.equal([[1, 200]]);
    }
    await until(async () => (await stored(one))?.pending_dispatch === undefined, {
      what: "a cleared pending dispatch",
    });
    expect(receiver.requests.map(({ raw }) => raw)).to.deep.equal(['{"n":1}', '{"n":1}']);
  });

  it("read a large event from MongoDB, so that Redis does not hold it", async () => {
    const to = await subscribe(platform, receiver.url);
    const large = { text: "x".repeat(100_000) };
    await emit([event(large), event("small")], [to]);
    const bodies = (await jobs()).flatMap(job => job.events.map(one => one.body));
    expect(bodies).to.have.members([undefined, '"small"']);
    start();
    await idle();
    expect(receiver.requests.map(({ raw }) => raw)).to.have.members([JSON.stringify(large), '"small"']);
  });

  it("read every event from MongoDB while Redis is above its high-water mark", async () => {
    const to = await subscribe(platform, receiver.url);
    platform.memory = { allowed: () => 0.9 };
    await emit([event("small")], [to]);
    expect((await jobs()).flatMap(job => job.events.map(one => one.body))).to.deep.equal([undefined]);
    start();
    await idle();
    expect(receiver.requests.map(({ raw }) => raw)).to.deep.equal(['"small"']);
  });

  it("fail their job, not its process, if they are slow and can't be recorded as pending", async () => {
    const unhandled: unknown[] = [];
    const onUnhandled = (error: unknown) => unhandled.push(error);
    process.on("unhandledRejection", onUnhandled);
    const to = await subscribe(platform, receiver.url);
    receiver.script("hang");
    await emit([event()], [to]);
    const collection = Deliveries(platform.mongo).collection.collectionName;
    const allow = (validator: object) => platform.mongo.db?.command({ collMod: collection, validator });
    await allow({ nothing: { $exists: true } });
    start();
    await until(async () => (await queue().getJobCountByTypes("delayed")) === 1, {
      what: "the job to wait for its next try",
    });
    await allow({});
    receiver.script(200);
    await until(async () => (await deliveriesOf(platform, to.webhookId))[0]?.state === "delivered");
    process.off("unhandledRejection", onUnhandled);
    expect(unhandled, "each would end a worker").to.deep.equal([]);
  });

  it("are made once, however often their job is enqueued again", async () => {
    const to = await subscribe(platform, receiver.url);
    const one = event();
    await emit([one], [to]);
    start();
    await idle();
    await emit([one], [to], true);
    await emit([one], [to], true);
    await idle();
    expect(receiver.requests).to.have.length(1);
    expect(await deliveriesOf(platform, to.webhookId)).to.have.length(1);
  });

  it("are retried by the schedule if they fail, each under the same webhook-id", async () => {
    receiver.script(500, 500, 200);
    const to = await subscribe(platform, receiver.url);
    await emit([event(1), event(2)], [to]);
    start();
    await until(async () => {
      const rows = await deliveriesOf(platform, to.webhookId);
      return rows.length === 2 && rows.every(({ state }) => state === "delivered");
    });
    const ids = receiver.requests.map(({ headers }) => headers["webhook-id"]);
    expect(new Set(ids).size).to.equal(2);
    expect(ids).to.have.length(4);
  });

  it("are dropped for a deleted webhook, failed for a disabled one, cancelled without a subscription", async () => {
    const [gone, disabled, unsubscribed] = [
      await subscribe(platform, receiver.url),
      await subscribe(platform, receiver.url),
      await subscribe(platform, receiver.url),
    ];
    await emit([event()], [gone, disabled, unsubscribed]);
    await deleteWebhook(platform, await webhookOf(platform, gone.webhookId));
    await platform.mongo
      .collection("webhooks")
      .updateOne({ _id: disabled.webhookId as never }, { $set: { active: false } });
    await Subscriptions(platform.mongo).deleteOne({ _id: unsubscribed.subscriptionId });
    const before = await readDrops(platform, EMITTER);
    start();
    await idle();
    const drops = await readDrops(platform, EMITTER);
    const more = (reason: string) => (drops[reason] ?? 0) - (before[reason] ?? 0);
    expect(["listener-absent", "webhook-disabled", "unsubscribed"].map(more)).to.deep.equal([1, 1, 1]);
    expect(await deliveriesOf(platform, gone.webhookId)).to.deep.equal([]);
    expect((await deliveriesOf(platform, unsubscribed.webhookId))[0]).to.include({
      state: "cancelled",
      reason: "subscription-deleted",
    });
    expect((await deliveriesOf(platform, disabled.webhookId))[0]).to.include({
      state: "failed",
      reason: "webhook-disabled",
    });
    expect(receiver.requests).to.deep.equal([]);
  });

  it("leave their job as pending deliveries if they are slow, and are recorded when they end", async () => {
    receiver.script("hang");
    const [slow, quick] = [await subscribe(platform, receiver.url), await subscribe(platform, receiver.url)];
    await emit([event()], [slow]);
    start();
    await until(() => receiver.hanging() === 1);
    await idle();
    expect((await deliveriesOf(platform, slow.webhookId))[0]).to.include({ state: "pending", generation: 0 });
    receiver.script(200);
    await emit([event()], [quick]);
    await until(async () => (await deliveriesOf(platform, quick.webhookId))[0]?.state === "delivered");
    receiver.release();
    await until(async () => (await deliveriesOf(platform, slow.webhookId))[0]?.state === "delivered");
    expect((await deliveriesOf(platform, slow.webhookId))[0]?.attempts).to.have.length(1);
  });

  it("are made again as soon as MongoDB takes writes if they ended after their job and could not be recorded", async () => {
    receiver.script("hang");
    const to = await subscribe(platform, receiver.url);
    await emit([event()], [to]);
    start();
    await until(async () => (await deliveriesOf(platform, to.webhookId))[0]?.state === "pending", {
      what: "an attempt that goes on without its job",
    });
    await idle();
    const { mongo } = platform;
    const collection = Deliveries(mongo).collection.collectionName;
    const allow = (validator: object) => mongo.db?.command({ collMod: collection, validator });
    // What MongoDB's profiler says of this test's database.
    const rejected = () => mongo.collection("system.profile").countDocuments({ op: "update", errCode: 121 });
    await mongo.db?.command({ profile: 2 });
    await allow({ nothing: { $exists: true } });
    receiver.script(200);
    receiver.release();
    await until(async () => (await rejected()) >= 2, { what: "a record and a repetition that failed" });
    await mongo.db?.command({ profile: 0 });
    await allow({});
    // No sweep runs here.
    await until(async () => (await deliveriesOf(platform, to.webhookId))[0]?.state === "delivered");
    const ids = receiver.requests.map(({ headers }) => headers["webhook-id"]);
    expect(new Set(ids).size).to.equal(1);
  });

  it("wait as pending deliveries at a webhook that is failing, and their job ends", async () => {
    receiver.script(500, "hang");
    const to = await subscribe(platform, receiver.url);
    await emit([event()], [to]);
    start();
    await until(async () => (await webhookOf(platform, to.webhookId)).failing_since_ms !== null);
    await emit(
      Array.from({ length: 20 }, (_, n) => event(n)),
      [to],
    );
    await until(async () => (await deliveriesOf(platform, to.webhookId)).length === 21, {
      what: "all recorded",
    });
    await idle();
    receiver.script(200);
    receiver.release();
    await until(
      async () => (await deliveriesOf(platform, to.webhookId)).every(({ state }) => state === "delivered"),
      { what: "all delivered once the endpoint works" },
    );
  });

  it("become pending deliveries while others hold every permit, and are sent once one is free", async () => {
    const to = await subscribe(platform, receiver.url);
    const webhook = await webhookOf(platform, to.webhookId);
    const permits = platform.config.deliveries.perWebhook;
    const names = Array.from({ length: permits }, (_, n) => `of-others-${n}`);
    await platform.permits.acquire(webhook._id, names, { permits, ttlMs: 60_000, afterBacklog: false });
    await emit([event()], [to]);
    start();
    await until(async () => (await deliveriesOf(platform, to.webhookId))[0]?.state === "pending", {
      what: "a pending delivery",
    });
    await until(async () => (await queue().getJobCountByTypes("waiting", "active", "delayed")) === 0, {
      what: "a drain that found no permit",
    });
    expect(receiver.requests).to.have.length(0);
    await releasePermits(platform, webhook, names);
    await until(async () => (await deliveriesOf(platform, to.webhookId))[0]?.state === "delivered");
    expect(receiver.requests).to.have.length(1);
  });

  describe("after their job was lost with Redis", () => {
    it("are dispatched again by the sweep once they are overdue, and made once", async () => {
      const to = await subscribe(platform, receiver.url);
      const one = event();
      await emit([one], [to]);
      await queue().obliterate({ force: true });
      expect(await sweep(platform, "dispatches")).to.equal(0);
      aheadMs += platform.config.sweepEveryMs + 1;
      expect(await sweep(platform, "dispatches")).to.equal(1);
      expect(await sweep(platform, "dispatches"), "the new job is queued").to.equal(0);
      start();
      await idle();
      expect(receiver.requests).to.have.length(1);
    });

    it("are not dispatched again while their job waits, or if all are recorded", async () => {
      const to = await subscribe(platform, receiver.url);
      const [waiting, made] = [event(), event()];
      await emit([waiting], [to]);
      aheadMs += platform.config.sweepEveryMs + 1;
      expect(await sweep(platform, "dispatches")).to.equal(0);
      expect((await stored(waiting))?.pending_dispatch?.sweep_at_ms).to.be.above(clock());

      await emit([made], [to]);
      await queue().obliterate({ force: true });
      const listeners = [{ subscriptionId: to.subscriptionId, webhookId: to.webhookId, ownerId: OWNER }];
      await createDeliveries(platform, { event: made, listeners });
      aheadMs += 2 * platform.config.sweepEveryMs;
      expect(await sweep(platform, "dispatches")).to.equal(1);
      expect((await stored(made))?.pending_dispatch).to.equal(undefined);
    });
  });
});
