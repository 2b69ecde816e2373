import { expect } from "chai";
import { NoPermit, PermitCache } from "../../../src/deliveries/limits/permit-cache.ts";
import { releasePermits } from "../../../src/deliveries/limits/webhook-limits.ts";
import { AppError } from "../../../src/lib/errors.ts";
import type { RunningWorker } from "../../../src/queues/run-worker.ts";
import type { Permits } from "../../../src/store/limits/permits.ts";
import { start as startDeliveries } from "../../../workers/deliveries.ts";
import { openTestPlatform, type TestPlatform } from "../../support/platform.ts";
import { type Receiver, startReceiver } from "../../support/receiver.ts";
import { until } from "../../support/until.ts";
import { deliveriesOf, webhookOf } from "../fixtures.ts";
import { emitTo, eventsInOrder, subscribeLimited } from "../rate-limited-webhook.ts";

describe("permits of first attempts", () => {
  let platform: TestPlatform;
  let receiver: Receiver;
  let worker: RunningWorker | undefined;

  beforeEach(async () => {
    platform = await openTestPlatform({}, { process: "deliveries" });
    receiver = await startReceiver(200);
  });
  afterEach(async () => {
    await worker?.close(3000);
    worker = undefined;
    await receiver.close();
    await platform.destroy();
  });

  /** Makes the next `times` calls of a script fail, as they do while Redis is full or loading. */
  function refuse(name: keyof Permits, times: number): () => number {
    let left = times;
    platform.permits = new Proxy(platform.permits, {
      get(permits, method: keyof Permits) {
        if (method !== name || left === 0) return permits[method];
        left -= 1;
        return () => Promise.reject(new AppError("unavailable", "Redis refuses scripts"));
      },
    });
    return () => left;
  }

  async function withTwoPermits() {
    const limits = { max_in_flight: 2, rate_limit_per_second: null };
    const { webhookId } = await subscribeLimited(platform, receiver.url, limits);
    return await webhookOf(platform, webhookId);
  }
  const limits = (permits = 2) => ({ permits, ttlMs: 60_000, afterBacklog: false });

  it("are not waited for in a job slot while a backlog waits for the permits that others hold", async () => {
    const { _id } = await withTwoPermits();
    const webhook = await webhookOf(platform, _id);
    await platform.permits.acquire(_id, ["one", "two"], limits());
    expect(await platform.permits.beginDrain(_id, { name: "d", permit: "d-0" }, limits())).to.equal("permit");
    const permits = new PermitCache(platform, "this-process");
    const use = () => permits.use(webhook, async () => "sent");
    for (const result of await Promise.all([use(), use(), use()])) {
      expect(result).to.be.instanceOf(NoPermit);
    }
    await permits.close();
  });

  it("are waited for without a backlog", async () => {
    const webhook = await withTwoPermits();
    await platform.permits.acquire(webhook._id, ["one", "two"], limits());
    const permits = new PermitCache(platform, "this-process");
    const used = permits.use(webhook, async () => "sent");
    await releasePermits(platform, webhook, ["one"]);
    expect(await used).to.equal("sent");
    await permits.close();
  });

  for (const name of ["acquire", "acquireTokens", "release", "renew"] as const) {
    it(`are all free again after Redis refused "${name}" for a moment`, async () => {
      const left = refuse(name, 4);
      const to = await subscribeLimited(platform, receiver.url, {
        max_in_flight: 2,
        rate_limit_per_second: 100,
      });
      worker = startDeliveries(platform);
      for (const event of eventsInOrder(12)) await emitTo(platform, [event], [to]);
      await until(async () => {
        const rows = await deliveriesOf(platform, to.webhookId);
        return rows.length === 12 && rows.every(({ state }) => state === "delivered");
      });
      if (name.startsWith("acquire")) expect(left()).to.equal(0);
      const permits = platform.keys.webhookPermits(to.webhookId);
      await until(
        async () => {
          await platform.redis.zremrangebyscore(permits, "-inf", Date.now());
          return (await platform.redis.zcard(permits)) === 0;
        },
        { what: "no permit held by an attempt that is over" },
      );
    });
  }
});
