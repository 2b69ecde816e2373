import type { JobType } from "bullmq";
import { expect } from "chai";
import { Deliveries } from "../../src/models/delivery.ts";
import { Webhooks } from "../../src/models/webhook.ts";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { deliveries } from "../../src/queues/deliveries.ts";
import type { RunningWorker } from "../../src/queues/run-worker.ts";
import { openPermits } from "../../src/store/permits.ts";
import { deleteWebhook } from "../../src/webhooks/delete.ts";
import { updateWebhook } from "../../src/webhooks/update.ts";
import { start as startDeliveries } from "../../workers/deliveries.ts";
import { deliveriesOf, emit, type Subscribed, subscribe, webhookOf } from "../deliveries/fixtures.ts";
import { emitTo, eventsInOrder, numbersOf, subscribeLimited } from "../deliveries/rate-limited-webhook.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { sweep } from "../support/sweep.ts";
import { until } from "../support/until.ts";

const MOST = 16;
const COUNT = 48;
const IN_FLIGHT = 3;

describe("a waitlist that is full", () => {
  let platform: TestPlatform;
  let worker: RunningWorker;
  let receiver: Receiver;

  beforeEach(async () => {
    platform = await openTestPlatform(
      { DELIVERY_PER_WEBHOOK: String(IN_FLIGHT), DELIVERY_TIMEOUT: "60s" },
      { process: "deliveries" },
    );
    const { redis, keys } = platform;
    platform.permits = openPermits(redis, keys, { memory: { allowed: () => 1 }, mostWaiting: MOST });
    receiver = await startReceiver("hang");
    worker = startDeliveries(platform);
  });
  afterEach(async () => {
    await receiver.close();
    await worker.close(5000);
    await platform.destroy();
  });

  const waiting = ({ webhookId }: Subscribed) =>
    platform.redis.zcard(platform.keys.webhookWaitlist(webhookId));
  const overflows = ({ webhookId }: Subscribed) =>
    platform.redis.exists(platform.keys.webhookOverflow(webhookId));
  const jobs = (...others: JobType[]) =>
    openedQueue(platform.queues, deliveries).getJobCountByTypes(
      "waiting",
      "prioritized",
      "active",
      ...others,
    );
  const pending = ({ webhookId }: Subscribed) =>
    Deliveries(platform.mongo).countDocuments({ webhook_id: webhookId, state: "pending" });

  /** Waits until Redis holds only a full waitlist of what is to be delivered. */
  const untilFull = (to: Subscribed) =>
    until(
      async () =>
        (await pending(to)) === COUNT &&
        (await jobs()) === 0 &&
        (await overflows(to)) === 1 &&
        receiver.hanging() > 0,
      { what: "all to be in flight, on the waitlist or in MongoDB only" },
    );

  /** The endpoint works: each delivery arrives, once. */
  async function expectAll(to: Subscribed): Promise<void> {
    receiver.script(200);
    receiver.release();
    await until(async () => (await pending(to)) === 0, { what: "all to be delivered" });
    const ids = receiver.requests.map(({ headers }) => headers["webhook-id"]);
    expect(ids).to.have.members((await deliveriesOf(platform, to.webhookId)).map(({ _id }) => _id));
    await until(async () => (await overflows(to)) === 0, { what: "nothing to be left in MongoDB only" });
  }

  it("leaves later attempts in MongoDB, which are delivered after those that waited before", async () => {
    const to = await subscribe(platform, receiver.url);
    for (let n = 0; n < COUNT; n++) await emit(platform, [to], { n });
    await untilFull(to);
    expect(await waiting(to)).to.equal(MOST);
    await expectAll(to);
    const late = numbersOf(receiver.requests).slice(-COUNT / 2);
    expect(
      late.filter(n => n < COUNT / 3),
      "first come, first served, roughly",
    ).to.have.length.below(COUNT / 6);
  });

  for (const [kind, limits] of [
    ["failing", { failing_since_ms: 1 }],
    ["rate-limited", { rate_limit_per_second: 40 }],
  ] as const) {
    it(`leaves first attempts in MongoDB, at a ${kind} webhook`, async () => {
      const to = await subscribe(platform, receiver.url);
      await Webhooks(platform.mongo).updateOne({ _id: to.webhookId }, { $set: limits });
      await emitTo(platform, eventsInOrder(COUNT), [to]);
      await untilFull(to);
      expect(await waiting(to)).to.equal(MOST);
      await expectAll(to);
    });
  }

  it("leaves them there without any job for the sweep to repeat, and nothing is lost with Redis' data", async () => {
    const to = await subscribe(platform, receiver.url);
    for (let n = 0; n < COUNT; n++) await emit(platform, [to], { n });
    await untilFull(to);
    await Deliveries(platform.mongo).updateMany({}, { $set: { sweep_at_ms: 1 } });
    expect(await sweep(platform, "deliveries")).to.equal(0);
    // Its drain is delayed, and would fill a waitlist that is lost before it.
    await until(async () => (await jobs("delayed")) === 0, { what: "the sweep's drain to be over" });
    expect(await waiting(to)).to.equal(MOST);
    const { webhookWaitlist, webhookOverflow } = platform.keys;
    await platform.redis.del(webhookWaitlist(to.webhookId), webhookOverflow(to.webhookId));
    await Deliveries(platform.mongo).updateMany({}, { $set: { sweep_at_ms: 1 } });
    expect(await sweep(platform, "deliveries"), "all but those in flight").to.equal(COUNT - IN_FLIGHT);
    await expectAll(to);
  });

  it("holds no more of what waited in order when the order is switched off", async () => {
    const to = await subscribeLimited(platform, receiver.url, { ordered: true });
    await emitTo(platform, eventsInOrder(COUNT), [to]);
    await until(() => receiver.hanging() === 1);
    await until(async () => (await pending(to)) === COUNT);
    await updateWebhook(platform, await webhookOf(platform, to.webhookId), { ordered: false });
    await untilFull(to);
    await until(async () => (await waiting(to)) > 0);
    expect(await waiting(to)).to.be.at.most(MOST);
    receiver.script(200);
    receiver.release();
    await until(async () => (await pending(to)) === 0);
    expect(new Set(receiver.requests.map(({ headers }) => headers["webhook-id"])).size).to.equal(COUNT);
  });

  it("is deleted with its webhook, whose deliveries are cancelled", async () => {
    const to = await subscribe(platform, receiver.url);
    for (let n = 0; n < COUNT; n++) await emit(platform, [to], { n });
    await untilFull(to);
    await deleteWebhook(platform, to.webhookId);
    expect([await waiting(to), await overflows(to), await pending(to)]).to.deep.equal([0, 0, 0]);
    receiver.script(200);
    receiver.release();
    await until(() => receiver.hanging() === 0);
    expect(await overflows(to)).to.equal(0);
  });
});
