import { expect } from "chai";
import { Deliveries } from "../../src/models/delivery.ts";
import { Webhooks } from "../../src/models/webhook.ts";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { deliveries } from "../../src/queues/deliveries.ts";
import type { RunningWorker } from "../../src/queues/run-worker.ts";
import { deleteWebhook, updateWebhook } from "../../src/webhooks/webhooks.ts";
import { start as startDeliveries } from "../../workers/deliveries.ts";
import { deliveriesOf, emit, type Subscribed, subscribe, webhookOf } from "../deliveries/fixtures.ts";
import { emitTo, eventsInOrder, numbersOf, subscribeLimited } from "../deliveries/rate-limited-webhook.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { sweep } from "../support/sweep.ts";
import { until } from "../support/until.ts";

const COUNT = 48;
const IN_FLIGHT = 3;

describe("the backlog of a webhook", () => {
  let platform: TestPlatform;
  let worker: RunningWorker;
  let receiver: Receiver;

  beforeEach(async () => {
    platform = await openTestPlatform(
      { CONCURRENCY: `webhook:${IN_FLIGHT}`, TIMEOUTS: "attempt:60s" },
      { process: "deliveries" },
    );
    receiver = await startReceiver("hang");
    worker = startDeliveries(platform);
  });
  afterEach(async () => {
    await receiver.close();
    await worker.close(5000);
    await platform.destroy();
  });

  const marks = ({ webhookId }: Subscribed) => platform.redis.zcard(platform.keys.webhookDrains(webhookId));
  const jobs = () =>
    openedQueue(platform.queues, deliveries).getJobCountByTypes(
      "waiting",
      "prioritized",
      "active",
      "delayed",
    );
  const pending = ({ webhookId }: Subscribed) =>
    Deliveries(platform.mongo).countDocuments({ webhook_id: webhookId, state: "pending" });

  /** Waits until nothing but MongoDB holds what is to be delivered. */
  const untilWaiting = (to: Subscribed) =>
    until(async () => (await pending(to)) === COUNT && (await jobs()) === 0 && receiver.hanging() > 0, {
      what: "all to be in flight or to wait in MongoDB",
    });

  /** The endpoint works: each delivery arrives, once. */
  async function expectAll(to: Subscribed): Promise<void> {
    receiver.script(200);
    receiver.release();
    await until(async () => (await pending(to)) === 0, { what: "all to be delivered" });
    const ids = receiver.requests.map(({ headers }) => headers["webhook-id"]);
    expect(ids).to.have.members((await deliveriesOf(platform, to.webhookId)).map(({ _id }) => _id));
    await until(async () => (await marks(to)) === 0, { what: "no mark to be left in Redis" });
  }

  it("waits in MongoDB only, and is delivered about in the order in which it became due", async () => {
    const to = await subscribe(platform, receiver.url);
    for (let n = 0; n < COUNT; n++) await emit(platform, [to], { n });
    await untilWaiting(to);
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
    it(`holds first attempts too, at a ${kind} webhook`, async () => {
      const to = await subscribe(platform, receiver.url);
      await Webhooks(platform.mongo).updateOne({ _id: to.webhookId }, { $set: limits });
      await emitTo(platform, eventsInOrder(COUNT), [to]);
      await untilWaiting(to);
      await expectAll(to);
    });
  }

  it("is no repair for the sweep as long as it waits for a permit, and nothing of it is lost with Redis' data", async () => {
    const to = await subscribe(platform, receiver.url);
    for (let n = 0; n < COUNT; n++) await emit(platform, [to], { n });
    await untilWaiting(to);
    const overdue = () => Deliveries(platform.mongo).updateMany({}, { $set: { sweep_at_ms: 1 } });
    await overdue();
    expect(await sweep(platform, "deliveries")).to.equal(0);
    await until(async () => (await jobs()) === 0, { what: "the sweep's drain to be over" });
    expect(receiver.hanging()).to.equal(IN_FLIGHT);
    await platform.redis.del(platform.keys.webhookDrains(to.webhookId));
    await overdue();
    expect(await sweep(platform, "deliveries"), "all but those in flight").to.equal(COUNT - IN_FLIGHT);
    await expectAll(to);
  });

  it("is sent in parallel when the order is switched off", async () => {
    const to = await subscribeLimited(platform, receiver.url, { ordered: true });
    await emitTo(platform, eventsInOrder(COUNT), [to]);
    await until(() => receiver.hanging() === 1);
    await until(async () => (await pending(to)) === COUNT);
    await updateWebhook(platform, await webhookOf(platform, to.webhookId), { ordered: false });
    await until(() => receiver.hanging() === IN_FLIGHT);
    await expectAll(to);
  });

  it("is cancelled with its webhook", async () => {
    const to = await subscribe(platform, receiver.url);
    for (let n = 0; n < COUNT; n++) await emit(platform, [to], { n });
    await untilWaiting(to);
    await deleteWebhook(platform, await webhookOf(platform, to.webhookId));
    expect([await marks(to), await pending(to)]).to.deep.equal([0, 0]);
    receiver.script(200);
    receiver.release();
    await until(() => receiver.hanging() === 0);
    await until(async () => (await jobs()) === 0, { what: "the drains to end" });
    expect(await marks(to)).to.equal(0);
    expect(receiver.requests).to.have.length(IN_FLIGHT);
  });
});
