import { expect } from "chai";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { deliveries } from "../../src/queues/deliveries.ts";
import type { RunningWorker } from "../../src/queues/run-worker.ts";
import { start as startDeliveries } from "../../workers/deliveries.ts";
import { emit, onlyDelivery, type Subscribed, subscribe } from "../deliveries/fixtures.ts";
import { subscribeLimited } from "../deliveries/rate-limited-webhook.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { sweep } from "../support/sweep.ts";
import { until } from "../support/until.ts";

const HOUR_MS = 3_600_000;

describe("the retry of a delivery", () => {
  let platform: TestPlatform;
  let worker: RunningWorker;
  let receiver: Receiver;
  /** How far the platform's clock is ahead. */
  let aheadMs = 0;

  async function start(schedule: string): Promise<void> {
    aheadMs = 0;
    platform = await openTestPlatform(
      { DELIVERY_RETRY_SCHEDULE: schedule },
      { process: "deliveries", clock: () => Date.now() + aheadMs },
    );
    receiver = await startReceiver(500, 200);
    worker = startDeliveries(platform);
    await worker.ready();
  }
  afterEach(async () => {
    await receiver.close();
    await worker.close(5000);
    await platform.destroy();
  });

  const delivery = (to: Subscribed) => onlyDelivery(platform, to.webhookId);
  const jobs = () =>
    openedQueue(platform.queues, deliveries).getJobCountByTypes(
      "waiting",
      "prioritized",
      "active",
      "delayed",
    );
  /** Waits for the first attempt to be recorded, and for the jobs of which nothing is left then. */
  const failedOnce = (to: Subscribed) =>
    until(async () => (await delivery(to)).attempts.length === 1, { what: "the first attempt is recorded" });

  for (const kind of ["plain", "ordered"] as const) {
    it(`has no job while it is far away, and is made once it is due, at a ${kind} webhook`, async () => {
      await start("1h");
      const to = await (kind === "plain"
        ? subscribe(platform, receiver.url)
        : subscribeLimited(platform, receiver.url, { ordered: true }));
      await emit(platform, [to]);
      // An event must have been there for a moment before an ordered webhook receives it.
      if (kind === "ordered")
        await until(() => sweep(platform, "deliveries").then(() => receiver.requests.length));
      await failedOnce(to);
      await until(async () => (await jobs()) === 0, { what: "no job" });
      expect(await sweep(platform, "deliveries")).to.equal(0);
      expect(await jobs()).to.equal(0);
      aheadMs = 1.2 * HOUR_MS;
      expect(await sweep(platform, "deliveries"), "what was planned is no repair").to.equal(0);
      await until(async () => (await delivery(to)).state === "delivered");
      expect(receiver.requests).to.have.length(2);
    });
  }

  it("has a delayed drain of its webhook while it is near", async () => {
    await start("90s");
    const to = await subscribe(platform, receiver.url);
    await emit(platform, [to]);
    await failedOnce(to);
    const [job] = await until(async () => {
      const delayed = await openedQueue(platform.queues, deliveries).getDelayed();
      return delayed.length > 0 && delayed;
    });
    expect(job?.name).to.equal("drain");
    expect(job?.delay).to.be.within(60_000, LIMITS.retryJobMs.value);
  });
});
