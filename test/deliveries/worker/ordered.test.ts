import { expect } from "chai";
import { createDeliveries } from "../../../src/deliveries/dispatch/create.ts";
import { persistEvents } from "../../../src/deliveries/dispatch/dispatch.ts";
import { permitTtlMs } from "../../../src/deliveries/limits/webhook-limits.ts";
import { type StoredEvent, StoredEvents } from "../../../src/models/event.ts";
import { openedQueue } from "../../../src/queues/define-queue.ts";
import { deliveries, enqueueDrain } from "../../../src/queues/deliveries.ts";
import { noteArrived, noteOnTheirWay, ON_THEIR_WAY_MS } from "../../../src/store/events/on-their-way.ts";
import { openTestPlatform, type TestPlatform } from "../../support/platform.ts";
import { type Receiver, startReceiver } from "../../support/receiver.ts";
import { until } from "../../support/until.ts";
import { deliveriesOf, OWNER, runDrain, type Subscribed } from "../fixtures.ts";
import { eventsInOrder, numbersOf, subscribeLimited } from "../rate-limited-webhook.ts";

describe("drain of an ordered webhook", () => {
  let platform: TestPlatform;
  let endpoint: Receiver;
  let listener: Subscribed;
  let now: number;

  const openWith = async (settings: Record<string, string>) => {
    platform = await openTestPlatform(
      { DELIVERY_RETRY_SCHEDULE: "10s", ...settings },
      { process: "deliveries", clock: () => now },
    );
  };
  beforeEach(async () => {
    now = Date.now();
    await openWith({});
    endpoint = await startReceiver(200);
    listener = await subscribeLimited(platform, endpoint.url, { ordered: true });
  });
  afterEach(async () => {
    await endpoint.close();
    await platform.destroy();
  });

  const record = async (event: StoredEvent) => {
    await persistEvents(platform, [event]);
    await createDeliveries(platform, { event, listeners: [{ ...listener, ownerId: OWNER }] });
  };
  const drain = (jobId = "drain") => runDrain(platform, listener.webhookId, { jobId, random: () => 0.5 });
  const queue = () => openedQueue(platform.queues, deliveries);
  const delaysOfDrains = async () =>
    (await queue().getDelayed()).filter(({ name }) => name === "drain").map(({ data }) => data.due_ms - now);

  it("does not send a delivery that was just recorded, because an earlier event may still arrive", async () => {
    const [first, second] = eventsInOrder(2, now);
    if (!first || !second) throw new Error("no events");
    await record(second);
    now += 400;
    expect(await drain()).to.include({ attempts: 0 });
    await record(first);
    now += 400;
    expect(await drain()).to.include({ attempts: 0 });
    expect(
      (await delaysOfDrains()).some(ms => ms >= 100 && ms <= 200),
      "a drain when the first may be sent",
    ).to.equal(true);
    now += 100;
    // A drain ends after a while, on a busy machine before it has sent both.
    let delivered = 0;
    await until(async () => {
      delivered += Number((await drain()).delivered);
      return delivered === 2;
    });
    expect(numbersOf(endpoint.requests)).to.deep.equal([0, 1]);
  });

  it("waits for an emission that has its event id and is not stored yet, but not for one that never arrives", async () => {
    const [event] = eventsInOrder(1, now);
    if (!event) throw new Error("no event");
    const earlier = { emitter_id: event.emitter_id, emit_id: "in-an-outbox", score: event.score - 1 };
    const later = { emitter_id: event.emitter_id, emit_id: "another", score: event.score + 5 * 1024 };
    await noteOnTheirWay(platform, OWNER, [earlier, later]);
    await record(event);
    now += 1000;
    expect(await drain()).to.include({ attempts: 0 });
    await noteArrived(platform, OWNER, [earlier]);
    expect(await drain()).to.include({ attempts: 1 });
    const [last] = eventsInOrder(1, now);
    if (!last) throw new Error("no event");
    await record(last);
    now += ON_THEIR_WAY_MS / 2;
    expect(await drain()).to.include({ attempts: 0 });
    now += ON_THEIR_WAY_MS / 2;
    expect(await drain()).to.include({ attempts: 1 });
  });

  it("sends nothing while another drain of the webhook is running", async () => {
    for (const event of eventsInOrder(2, now)) await record(event);
    now += 1000;
    endpoint.script("hang", 200);
    const one = drain("one");
    await until(() => endpoint.hanging() === 1);
    await queue().obliterate({ force: true });
    expect(await drain("another")).to.include({ result: "busy" });
    expect(endpoint.requests).to.have.length(1);
    endpoint.release();
    await one;
    expect(await delaysOfDrains(), "one follows").to.have.length(1);
    await drain("another");
    expect(numbersOf(endpoint.requests)).to.deep.equal([0, 1]);
  });

  it("holds its permit for as long as an attempt takes, and not for long after its process was killed @long", async () => {
    await platform.destroy();
    await openWith({ TIMEOUTS: "stalled:500ms" });
    listener = await subscribeLimited(platform, endpoint.url, { ordered: true });
    const ttlMs = permitTtlMs(platform);
    for (const event of eventsInOrder(2, now)) await record(event);
    now += 1000;
    endpoint.script("hang", 200);
    const one = drain("one");
    await until(() => endpoint.hanging() === 1);
    const after = Date.now() + 2 * ttlMs;
    await until(() => Date.now() > after);
    expect(await drain("another")).to.include({ result: "busy" });
    endpoint.release();
    await one;

    const limits = { permits: 1, ttlMs, afterBacklog: false };
    const acquire = () => platform.permits.acquire(listener.webhookId, ["of-a-killed-process"], limits);
    await until(async () => (await acquire()).acquired === 1, { what: "the drain to release its permit" });
    expect(await drain("another")).to.include({ result: "busy" });
    await until(async () => (await drain("another")).result !== "busy", { what: "the permit" });
    expect(numbersOf(endpoint.requests)).to.deep.equal([0, 1]);
  });

  it("stops at the first delivery that fails, and goes on when its retry is due", async () => {
    for (const event of eventsInOrder(3, now)) await record(event);
    now += 1000;
    endpoint.script(200, 500, 200);
    // A drain ends after a while, on a busy machine before it has sent both.
    await until(async () => {
      await drain();
      return endpoint.requests.length === 2;
    });
    expect(await drain()).to.include({ attempts: 0 });
    expect(numbersOf(endpoint.requests)).to.deep.equal([0, 1]);
    const [, failed] = await deliveriesOf(platform, listener.webhookId).then(all =>
      all.toSorted((a, b) => a.event_score - b.event_score),
    );
    expect(failed).to.include({ state: "pending", next_attempt_at_ms: now + 10_000 });
    expect(await delaysOfDrains()).to.satisfy((all: number[]) => all.some(ms => ms > 9900 && ms <= 10_100));
    now += 10_000;
    await until(async () => {
      await drain();
      return endpoint.requests.length === 4;
    });
    expect(numbersOf(endpoint.requests)).to.deep.equal([0, 1, 1, 2]);
  });

  it("is one job, however often it is enqueued at the same time", async () => {
    const webhook = { _id: listener.webhookId, owner_id: OWNER };
    for (let i = 0; i < 20; i++) await enqueueDrain(platform, webhook, 1000 + i / 20);
    expect(await delaysOfDrains()).to.have.length(1);
  });

  it("reads its own events only, whatever other accounts have undelivered, and a few at a time", async () => {
    const [template] = eventsInOrder(1, now);
    if (!template) throw new Error("no event");
    const { db } = platform.mongo;
    const undelivered = (count: number, webhookId: string, name: string) =>
      Array.from({ length: count }, (_, n) => ({
        ...template,
        _id: `${name}-${n}`,
        score: now * 1024 + n,
        created_at: new Date(now),
        pending_dispatch: {
          job_id: "job",
          sweep_at_ms: now,
          listeners: [[listener.subscriptionId, webhookId, OWNER]],
          webhook_ids: [webhookId],
        },
      }));
    await StoredEvents(platform.mongo).insertMany(undelivered(3000, "wh_of_others", "theirs"), {
      lean: true,
    });
    await StoredEvents(platform.mongo).insertMany(undelivered(1000, listener.webhookId, "mine"), {
      lean: true,
    });
    for (const event of eventsInOrder(2, now)) await record(event);
    now += 1000;
    await db?.createCollection("system.profile", { capped: true, size: 16 * 1024 * 1024 });
    await db?.command({ profile: 2 });
    await drain();
    await db?.command({ profile: 0 });
    const reads = await db
      ?.collection("system.profile")
      .find({ ns: /\.events$/ })
      .toArray();
    expect(reads?.length, "reads of events").to.be.above(0);
    const examined = reads?.map(({ docsExamined = 0, keysExamined = 0 }) => docsExamined + keysExamined);
    expect(Math.max(...(examined ?? []))).to.be.below(250);
  });
});
