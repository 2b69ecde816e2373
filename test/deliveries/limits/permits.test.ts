import { expect } from "chai";
import { acquirePermits, releasePermits } from "../../../src/deliveries/limits/permits.ts";
import { openedQueue } from "../../../src/queues/define-queue.ts";
import { deliveries } from "../../../src/queues/deliveries.ts";
import { openTestPlatform, type TestPlatform } from "../../support/platform.ts";
import { OWNER, webhookOf } from "../fixtures.ts";
import { subscribeLimited } from "../rate-limited-webhook.ts";

describe("the jobs that lead a waitlist on", () => {
  let platform: TestPlatform;
  beforeEach(async () => {
    platform = await openTestPlatform({}, { process: "deliveries" });
  });
  afterEach(() => platform.destroy());

  it("name the webhook's owner, because an account whose jobs pass for another's makes room for them", async () => {
    const limits = { max_in_flight: 2, rate_limit_per_second: 1 };
    const { webhookId } = await subscribeLimited(platform, "http://127.0.0.1:1", limits);
    const webhook = await webhookOf(platform, webhookId);
    const jobs = Array.from({ length: 8 }, (_, n) => ({
      ...{ delivery_id: `dlv_${n}`, webhook_id: webhookId, generation: 0, account_id: OWNER },
    }));
    const acquired = await acquirePermits(platform, webhook, jobs);
    // One that did not fit on the waitlist.
    await platform.redis.hset(platform.keys.webhookOverflow(webhookId), "count", 1);
    const names = acquired.map(({ delivery_id }) => `${delivery_id}-0`);
    await releasePermits(platform, webhook, names);
    const enqueued = await openedQueue(platform.queues, deliveries).getJobs();
    const reasons = new Set(enqueued.flatMap(({ name, data }) => (name === "drain" ? [data.reason] : [])));
    expect([...reasons]).to.have.members(["tokens", "refill"]);
    for (const { data } of enqueued) expect(data.account_id).to.equal(OWNER);
  });
});
