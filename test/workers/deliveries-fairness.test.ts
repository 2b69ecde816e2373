import { expect } from "chai";
import { Webhooks } from "../../src/models/webhook.ts";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { deliveries, enqueueDrain } from "../../src/queues/deliveries.ts";
import type { RunningWorker } from "../../src/queues/run-worker.ts";
import { start as startDeliveries } from "../../workers/deliveries.ts";
import { deliveriesOf, emit, OWNER, subscribe, webhookOf } from "../deliveries/fixtures.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

/** docs/design.md#guarantee-5 */
describe("deliveries to many webhooks", () => {
  let platform: TestPlatform;
  let worker: RunningWorker;
  let slow: Receiver;
  let quick: Receiver;

  beforeEach(async () => {
    platform = await openTestPlatform(
      { CONCURRENCY: "deliveries:6,webhook:3", TIMEOUTS: "attempt:60s" },
      { process: "deliveries" },
    );
    slow = await startReceiver("hang");
    quick = await startReceiver(200);
    worker = startDeliveries(platform);
  });
  afterEach(async () => {
    await Promise.all([slow.close(), quick.close()]);
    await worker.close(5000);
    await platform.destroy();
  });

  const waitingOrActive = () =>
    openedQueue(platform.queues, deliveries).getJobCountByTypes("waiting", "prioritized", "active");
  const pending = async (webhookId: string) =>
    (await deliveriesOf(platform, webhookId)).filter(({ state }) => state === "pending").length;

  it("are not delayed by an endpoint that hangs and has many deliveries waiting", async () => {
    const dead = await subscribe(platform, slow.url);
    const alive = await subscribe(platform, quick.url);
    for (let i = 0; i < 40; i++) await emit(platform, [dead]);
    await until(() => slow.hanging() === 3, { what: "all permits of the dead endpoint in use" });
    for (let i = 0; i < 20; i++) await emit(platform, [alive]);
    await until(async () => (await pending(alive.webhookId)) === 0);
    expect(slow.hanging()).to.equal(3);
    expect(await pending(dead.webhookId)).to.equal(40);
  });

  for (const kind of ["failing", "ordered"] as const) {
    it(`are not kept out by ${kind} webhooks that hang, many more than there are slots @long`, async () => {
      const dead = await Promise.all(
        Array.from({ length: 15 }, (_, n) => subscribe(platform, `${slow.url}/${n}`, { ownerId: OWNER })),
      );
      const ids = dead.map(({ webhookId }) => webhookId);
      const set = kind === "ordered" ? { ordered: true } : { failing_since_ms: Date.now() };
      await Webhooks(platform.mongo).updateMany({ _id: { $in: ids } }, { $set: set });
      const alive = await subscribe(platform, quick.url, { ownerId: "u_1111111111111111" });
      await emit(platform, dead);
      if (kind === "ordered") {
        for (const webhookId of ids) {
          await enqueueDrain(platform, await webhookOf(platform, webhookId));
        }
      }
      await until(() => slow.hanging() >= 5, { what: "attempts that hang" });
      for (let i = 0; i < 5; i++) await emit(platform, [alive]);
      await until(async () => (await pending(alive.webhookId)) === 0);
      await until(() => slow.hanging() === 15, { what: "an attempt at each dead endpoint" });
      await until(async () => (await waitingOrActive()) === 0, { what: "no job as long as its attempt" });
      slow.script(200);
      slow.release();
      await until(async () => (await Promise.all(ids.map(pending))).every(count => count === 0));
      expect(slow.requests).to.have.length(15);
    });
  }

  it("are repeated by another worker if their later attempts were in flight when theirs stopped", async () => {
    const listener = await subscribe(platform, slow.url);
    await emit(platform, [listener]);
    await until(() => slow.hanging() === 1);
    await until(async () => (await waitingOrActive()) === 0, { what: "the job to end before its attempt" });
    await worker.close(100);
    slow.script(200);
    worker = startDeliveries(platform);
    await until(async () => (await pending(listener.webhookId)) === 0);
    expect(slow.requests).to.have.length(2);
    expect(new Set(slow.requests.map(({ headers }) => headers["webhook-id"])).size).to.equal(1);
  });

  it("arrive once each, and never more at a time than the webhook has permits", async () => {
    let inFlight = 0;
    let most = 0;
    quick.script(async () => {
      most = Math.max(most, ++inFlight);
      await new Promise(resolve => setImmediate(resolve));
      inFlight -= 1;
      return 200;
    });
    const listener = await subscribe(platform, quick.url);
    await Promise.all(Array.from({ length: 60 }, () => emit(platform, [listener])));
    await until(async () => (await pending(listener.webhookId)) === 0);
    const ids = quick.requests.map(({ headers }) => headers["webhook-id"]);
    expect(ids).to.have.length(60);
    expect(new Set(ids).size).to.equal(60);
    expect(most).to.be.within(1, 3);
  });

  it("get one permit for a failing webhook, and all its permits once it works again", async () => {
    slow.script(500, "hang");
    const listener = await subscribe(platform, slow.url);
    await emit(platform, [listener]);
    await until(async () => (await webhookOf(platform, listener.webhookId)).failing_since_ms !== null);
    for (let i = 0; i < 10; i++) await emit(platform, [listener]);
    await until(() => slow.hanging() === 1);
    await until(async () => (await waitingOrActive()) === 0, { what: "no job that waits for the permit" });
    expect(await pending(listener.webhookId)).to.equal(11);
    expect(slow.hanging()).to.equal(1);
    slow.release();
    await until(() => slow.hanging() === 3, { what: "three in flight after the success" });
    slow.script(200);
    slow.release();
    await until(async () => (await pending(listener.webhookId)) === 0);
    expect(slow.requests).to.have.length(12);
  });
});
