import { expect } from "chai";
import { retryDelivery } from "../../src/deliveries/manual-retry.ts";
import { Deliveries } from "../../src/models/delivery.ts";
import { StoredEvents } from "../../src/models/event.ts";
import type { Platform } from "../../src/platform.ts";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { deliveries } from "../../src/queues/deliveries.ts";
import type { RunningWorker } from "../../src/queues/run-worker.ts";
import { updateWebhook } from "../../src/webhooks/webhooks.ts";
import { start as startDeliveries } from "../../workers/deliveries.ts";
import { deliveriesOf, OWNER, type Subscribed, subscribe, webhookOf } from "../deliveries/fixtures.ts";
import {
  emitTo,
  eventsInOrder,
  numbersOf,
  openSecondPlatform,
  subscribeLimited,
  upTo,
} from "../deliveries/rate-limited-webhook.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { type Receiver, type Reply, startReceiver } from "../support/receiver.ts";
import { sweep } from "../support/sweep.ts";
import { until } from "../support/until.ts";
import { environmentOf, spawnWorker, type WorkerProcess, whenReady } from "./worker-process.ts";

describe("deliveries to an ordered webhook", () => {
  let platform: TestPlatform;
  let other: Platform;
  let workers: RunningWorker[];
  let child: WorkerProcess | undefined;
  let endpoint: Receiver;

  const open = async (schedule: string) => {
    platform = await openTestPlatform(
      { DELIVERY_RETRY_SCHEDULE: schedule, TIMEOUTS: "stalled:1s" },
      { process: "deliveries" },
    );
    other = await openSecondPlatform(platform);
    endpoint = await startReceiver(200);
    workers = [];
  };
  const start = () => workers.push(startDeliveries(platform), startDeliveries(other));
  afterEach(async () => {
    child?.kill("SIGKILL");
    await child?.ended;
    child = undefined;
    await endpoint.close();
    await Promise.all(workers.map(worker => worker.close(3000)));
    await other.close();
    await platform.destroy();
  });

  const ordered = () => subscribeLimited(platform, endpoint.url, { ordered: true });
  const setOrdered = async ({ webhookId }: Subscribed, value: boolean) =>
    updateWebhook(platform, await webhookOf(platform, webhookId), { ordered: value });
  const states = async ({ webhookId }: Subscribed) =>
    (await Deliveries(platform.mongo).find({ webhook_id: webhookId }).sort({ event_score: 1 }).lean()).map(
      ({ state }) => state,
    );
  /** Waits until there are `count` deliveries and none is in this state. */
  const untilNone = (state: string, to: Subscribed, count: number) =>
    until(
      async () => {
        const all = await states(to);
        return all.length === count && !all.includes(state as never);
      },
      { what: `${count} deliveries, none ${state}` },
    );
  /** Replies by the event's number, and counts how many requests are in flight at once. */
  const replyBy = (reply: (n: number, time: number) => Reply) => {
    const seen = new Map<number, number>();
    const inFlight = { now: 0, most: 0 };
    endpoint.script(async ({ raw }) => {
      const { n } = JSON.parse(raw);
      seen.set(n, (seen.get(n) ?? 0) + 1);
      inFlight.most = Math.max(inFlight.most, ++inFlight.now);
      await new Promise(resolve => setTimeout(resolve, 3));
      inFlight.now -= 1;
      return reply(n, seen.get(n) ?? 0);
    });
    return inFlight;
  };

  it("arrive one at a time in the order of their ids, and a failing one holds up the rest", async () => {
    await open("50ms,50ms,50ms");
    const to = await ordered();
    const inFlight = replyBy((n, time) => (n % 6 === 0 && time < 3 ? 500 : 200));
    start();
    // Recorded out of order, as several emissions workers do.
    const events = eventsInOrder(24);
    for (const at of [16, 0, 8]) await emitTo(other, events.slice(at, at + 8).reverse(), [to]);
    await untilNone("pending", to, 24);
    const expected = upTo(24).flatMap(n => (n % 6 === 0 ? [n, n, n] : [n]));
    expect(numbersOf(endpoint.requests)).to.deep.equal(expected);
    expect(inFlight.most).to.equal(1);
    expect(new Set(await states(to))).to.deep.equal(new Set(["delivered"]));
  });

  it("go on after one has failed for good, and a manual retry of it is sent before the rest", async () => {
    await open("30ms,30ms");
    const to = await ordered();
    let broken = 0;
    replyBy(n => (n === broken ? 500 : 200));
    start();
    const events = eventsInOrder(6);
    await emitTo(platform, events.slice(0, 3), [to]);
    await untilNone("pending", to, 3);
    expect(numbersOf(endpoint.requests)).to.deep.equal([0, 0, 0, 1, 2]);
    expect(await states(to)).to.deep.equal(["failed", "delivered", "delivered"]);

    broken = -1;
    await emitTo(platform, events.slice(3), [to]);
    const [failed] = await deliveriesOf(platform, to.webhookId).then(all =>
      all.filter(({ state }) => state === "failed"),
    );
    if (!failed) throw new Error("none failed");
    await retryDelivery(platform, failed);
    await untilNone("pending", to, 6);
    expect(numbersOf(endpoint.requests.slice(5))).to.deep.equal([0, 3, 4, 5]);
  });

  it("do not delay another webhook", async () => {
    await open("1h");
    const to = await ordered();
    const free = await startReceiver(200);
    try {
      const quick = await subscribe(platform, free.url);
      endpoint.script(500);
      start();
      await emitTo(platform, eventsInOrder(10), [to, quick]);
      await untilNone("pending", quick, 10);
      expect(await states(to)).to.deep.equal(Array(10).fill("pending"));
    } finally {
      await free.close();
    }
  });

  it("wait for an earlier event that is stored and not yet recorded as a delivery", async () => {
    await open("50ms");
    const to = await ordered();
    const [first, second] = eventsInOrder(2);
    if (!first || !second) throw new Error("no events");
    await emitTo(platform, [first], [to]);
    const queue = openedQueue(platform.queues, deliveries);
    const [job] = await queue.getJobs(["waiting"]);
    await job?.remove();
    start();
    await emitTo(platform, [second], [to]);
    const drains = () => queue.getDelayed().then(jobs => jobs.map(({ id }) => id).join());
    const early = await until(drains, { what: "a scheduled drain" });
    await until(async () => {
      const later = await drains();
      return later !== "" && later !== early;
    });
    await until(async () => {
      const [delivery] = await deliveriesOf(platform, to.webhookId);
      return delivery && Date.now() - delivery.created_at.getTime() > 1000;
    });
    expect(endpoint.requests, "nothing is sent while the first is missing").to.have.length(0);
    await queue.add(job?.name ?? "", job?.data, { jobId: job?.id });
    await untilNone("pending", to, 2);
    expect(numbersOf(endpoint.requests)).to.deep.equal([0, 1]);
  });

  it("are all sent once the order is switched off, except one that waits for its retry", async () => {
    await open("1h");
    const to = await ordered();
    replyBy(n => (n === 0 ? 500 : 200));
    start();
    await emitTo(platform, eventsInOrder(8), [to]);
    await until(() => endpoint.requests.length === 1);
    await until(async () => (await states(to)).length === 8);
    await setOrdered(to, false);
    await until(async () => (await states(to)).filter(state => state === "delivered").length === 7);
    expect(await states(to)).to.deep.equal(["pending", ...Array(7).fill("delivered")]);
  });

  it("are in order from the moment it is switched on, also those that were waiting before", async () => {
    await open("600ms,50ms");
    const to = await subscribe(platform, endpoint.url);
    let isBroken = true;
    replyBy(() => (isBroken ? 500 : 200));
    start();
    const events = eventsInOrder(12);
    await emitTo(platform, events.slice(6), [to]);
    await until(() => endpoint.requests.length > 0, { what: "a failure" });
    await setOrdered(to, true);
    await emitTo(platform, events.slice(0, 6), [to]);
    await until(async () => (await states(to)).length === 12);
    isBroken = false;
    const before = endpoint.requests.length;
    await untilNone("pending", to, 12);
    const after = numbersOf(endpoint.requests.slice(before));
    expect(after).to.deep.equal(after.toSorted((a, b) => a - b));
    expect(new Set(await states(to))).to.deep.equal(new Set(["delivered"]));
  });

  it("stay in order, and none is lost, if a worker is killed halfway @long", async () => {
    await open("50ms");
    const to = await ordered();
    child = spawnWorker("deliveries", environmentOf(platform.config));
    await whenReady(child);
    const [first] = [child];
    replyBy(n => {
      if (n === 5) first.kill("SIGKILL");
      return 200;
    });
    const events = eventsInOrder(20);
    await emitTo(platform, events.slice(0, 10), [to]);
    expect(await first.ended).to.equal("SIGKILL");
    start();
    await emitTo(platform, events.slice(10), [to]);
    await untilNone("pending", to, 20);
    const numbers = numbersOf(endpoint.requests);
    expect(numbers.filter((n, i) => n !== numbers[i - 1])).to.deep.equal(upTo(20));
  });

  it("are sent after a sweep if Redis has lost their drain", async () => {
    await open("50ms");
    const to = await ordered();
    start();
    await Promise.all(workers.map(worker => worker.ready()));
    const [event] = eventsInOrder(1);
    if (!event) throw new Error("no event");
    await emitTo(platform, [event], [to]);
    await until(async () => (await states(to)).length === 1);
    await openedQueue(platform.queues, deliveries).drain(true);
    await until(async () => {
      await sweep(platform, "deliveries");
      return endpoint.requests.length > 0;
    });
    await untilNone("pending", to, 1);
    expect(endpoint.requests).to.have.length(1);
  });

  it("observe a rate limit as well", async () => {
    await open("50ms");
    const to = await subscribeLimited(platform, endpoint.url, { ordered: true, rate_limit_per_second: 10 });
    start();
    await emitTo(platform, eventsInOrder(15), [to]);
    await until(() => endpoint.requests.length > 0);
    const startedAt = performance.now();
    await untilNone("pending", to, 15);
    expect(numbersOf(endpoint.requests)).to.deep.equal(upTo(15));
    expect(performance.now() - startedAt, "ms for the tokens that the bucket does not hold").to.be.above(
      1000,
    );
  });

  it("are all ended if the endpoint responds with 410", async () => {
    await open("50ms");
    const to = await ordered();
    endpoint.script(410);
    start();
    await emitTo(platform, eventsInOrder(4), [to]);
    await untilNone("pending", to, 4);
    const reasons = (await deliveriesOf(platform, to.webhookId)).map(({ reason }) => reason);
    expect(reasons.toSorted()).to.deep.equal(["gone", ...Array(3).fill("webhook-disabled")]);
    expect(endpoint.requests).to.have.length(1);
    expect(await StoredEvents(platform.mongo).countDocuments({ owner_id: OWNER })).to.equal(4);
  });
});
