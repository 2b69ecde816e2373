import { expect } from "chai";
import type { Platform } from "../../src/platform.ts";
import type { RunningWorker } from "../../src/queues/run-worker.ts";
import { updateWebhook } from "../../src/webhooks/webhooks.ts";
import { start as startDeliveries } from "../../workers/deliveries.ts";
import { deliveriesOf, type Subscribed, subscribe, webhookOf } from "../deliveries/fixtures.ts";
import {
  emitTo,
  eventsInOrder,
  openSecondPlatform,
  subscribeLimited,
} from "../deliveries/rate-limited-webhook.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

const PER_SECOND = 20;
/** Tokens that the bucket holds at first. */
const BURST = PER_SECOND / 4;

describe("deliveries of two workers to a webhook with a rate limit", () => {
  let platform: TestPlatform;
  let other: Platform;
  let workers: RunningWorker[];
  let limited: Receiver;
  let free: Receiver;
  let startedAt: number;
  let arrivedAt: number[];

  beforeEach(async () => {
    platform = await openTestPlatform(
      // A worker that got no processor for so long counts as hung, and its jobs are repeated: then nothing arrives once.
      { DELIVERY_RETRY_SCHEDULE: "50ms,50ms", TIMEOUTS: "stalled:10m" },
      { process: "deliveries" },
    );
    other = await openSecondPlatform(platform);
    arrivedAt = [];
    limited = await startReceiver();
    limited.script(() => {
      arrivedAt.push(performance.now());
      return 200;
    });
    free = await startReceiver(200);
    workers = [startDeliveries(platform), startDeliveries(other)];
  });
  afterEach(async () => {
    await Promise.all([limited.close(), free.close()]);
    await Promise.all(workers.map(worker => worker.close(3000)));
    await other.close();
    await platform.destroy();
  });

  const limit = { rate_limit_per_second: PER_SECOND };
  const allDelivered = ({ webhookId }: Subscribed, count: number) =>
    until(
      async () =>
        (await deliveriesOf(platform, webhookId)).filter(({ state }) => state === "delivered").length ===
        count,
      { what: `${count} delivered` },
    );

  /**
   * The most requests that ever had arrived beyond what the rate had allowed to be sent by then. On a busy machine they arrive
   * late and in bunches, but never earlier than they are sent.
   */
  function mostAhead(): number {
    return Math.max(...arrivedAt.map((at, i) => i + 1 - ((at - startedAt) / 1000) * PER_SECOND));
  }

  it("observe the limit, and arrive once each", async () => {
    const to = await subscribeLimited(platform, limited.url, limit);
    const events = eventsInOrder(80);
    startedAt = performance.now();
    for (let at = 0; at < events.length; at += 8) await emitTo(platform, events.slice(at, at + 8), [to]);
    await allDelivered(to, 80);
    expect(new Set(limited.requests.map(({ headers }) => headers["webhook-id"])).size).to.equal(80);
    expect(limited.requests).to.have.length(80);
    expect(mostAhead(), "requests without a token").to.be.below(BURST + 1);
  });

  it("do not delay another webhook, which has no bucket", async () => {
    const slowest = { rate_limit_per_second: 1 };
    const to = [await subscribeLimited(platform, limited.url, slowest), await subscribe(platform, free.url)];
    const events = eventsInOrder(80);
    for (let at = 0; at < events.length; at += 8) await emitTo(platform, events.slice(at, at + 8), to);
    await until(() => free.requests.length === 80, { what: "80 requests at the webhook without a limit" });
    expect(limited.requests.length).to.be.below(80);
    expect(
      await platform.redis.exists(platform.keys.webhookTokens((to[1] as Subscribed).webhookId)),
    ).to.equal(0);
  });

  it("observe the limit with retries too, which use up no attempt while they wait @long", async () => {
    const seen = new Set<unknown>();
    limited.script(({ headers }) => {
      arrivedAt.push(performance.now());
      const id = headers["webhook-id"];
      if (seen.has(id)) return 200;
      seen.add(id);
      return 500;
    });
    const to = await subscribeLimited(platform, limited.url, limit);
    startedAt = performance.now();
    await emitTo(platform, eventsInOrder(30), [to]);
    await allDelivered(to, 30);
    for (const { attempts } of await deliveriesOf(platform, to.webhookId)) {
      expect(attempts.map(({ status }) => status)).to.deep.equal([500, 200]);
    }
    expect(arrivedAt).to.have.length(60);
    expect(mostAhead(), "requests without a token").to.be.below(BURST + 1);
  });

  it("are all sent at once when the limit is removed @long", async () => {
    const to = await subscribeLimited(platform, limited.url, { rate_limit_per_second: 1 });
    await emitTo(platform, eventsInOrder(100), [to]);
    await until(() => limited.requests.length === 2, {
      what: "the second request, a second after the first",
    });
    await updateWebhook(platform, await webhookOf(platform, to.webhookId), { rate_limit_per_second: null });
    await allDelivered(to, 100);
    expect(limited.requests).to.have.length(100);
  });
});
