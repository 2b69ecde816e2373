import { expect } from "chai";
import { requeue } from "../../src/deliveries/attempt/next-attempt.ts";
import { Subscriptions } from "../../src/models/subscription.ts";
import { Webhooks } from "../../src/models/webhook.ts";
import type { RunningWorker } from "../../src/queues/run-worker.ts";
import { readDrops } from "../../src/store/events/drops.ts";
import { deleteWebhook, updateWebhook } from "../../src/webhooks/webhooks.ts";
import { start as startDeliveries } from "../../workers/deliveries.ts";
import { deliveriesOf, EMITTER, emit, onlyDelivery, subscribe, webhookOf } from "../deliveries/fixtures.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

const BUSY_FLOOR_MS = 700;

describe("deliveries worker", () => {
  let platform: TestPlatform;
  let worker: RunningWorker;
  let receivers: Receiver[] = [];

  const receiver = async (...replies: Parameters<typeof startReceiver>) => {
    const started = await startReceiver(...replies);
    receivers.push(started);
    return started;
  };
  const stateOf = async (webhookId: string) => (await onlyDelivery(platform, webhookId)).state;
  const finished = (webhookId: string) =>
    until(async () => {
      const delivery = await onlyDelivery(platform, webhookId);
      return delivery.state !== "pending" && delivery;
    });

  before(async () => {
    platform = await openTestPlatform(
      { TIMEOUTS: "attempt:600ms", DELIVERY_RETRY_SCHEDULE: "100ms,200ms,300ms" },
      { process: "deliveries" },
    );
    worker = startDeliveries(platform, { busyFloorMs: BUSY_FLOOR_MS });
    await worker.ready();
  });
  after(async () => {
    await worker.close(5000);
    await platform.destroy();
  });
  afterEach(async () => {
    await Promise.all(receivers.map(one => one.close()));
    receivers = [];
  });

  it("delivers an event and logs the attempt", async () => {
    const endpoint = await receiver({ status: 201, body: "thanks" });
    const listener = await subscribe(platform, endpoint.url);
    await emit(platform, [listener], { hello: "world" });
    const delivery = await finished(listener.webhookId);
    expect(delivery).to.include({
      state: "delivered",
      reason: null,
      next_attempt_at_ms: null,
      sweep_at_ms: null,
    });
    expect(delivery.attempts).to.have.length(1);
    expect(delivery.attempts[0]).to.include({
      number: 1,
      trigger: "schedule",
      status: 201,
      error: null,
      response: "thanks",
    });
    expect(endpoint.requests[0]?.raw).to.equal('{"hello":"world"}');
  });

  it("retries by the schedule, under the same webhook-id, until the event is delivered", async () => {
    // A kept connection that is reset is tried once more at once, as a part of the same attempt.
    const endpoint = await receiver(500, "reset", "reset", 200);
    const listener = await subscribe(platform, endpoint.url);
    await emit(platform, [listener]);
    const delivery = await finished(listener.webhookId);
    expect(delivery.state).to.equal("delivered");
    expect(delivery.attempts.map(({ number, status }) => [number, status])).to.deep.equal([
      [1, 500],
      [2, null],
      [3, 200],
    ]);
    const sent = endpoint.requests.map(({ headers }) => [
      headers["webhook-id"],
      headers["x-headwater-attempt"],
    ]);
    expect(sent).to.deep.equal([1, 2, 2, 3].map(number => [delivery._id, String(number)]));
  });

  it("fails a delivery as exhausted after the last step of the schedule", async () => {
    const endpoint = await receiver(503);
    const listener = await subscribe(platform, endpoint.url);
    await emit(platform, [listener]);
    const delivery = await finished(listener.webhookId);
    expect(delivery).to.include({ state: "failed", reason: "exhausted" });
    expect(endpoint.requests).to.have.length(1 + platform.config.deliveries.retryScheduleMs.length);
  });

  it("goes by the webhook's own schedule, as it is at each failure", async () => {
    const endpoint = await receiver(503);
    const none = await subscribe(platform, endpoint.url, { retry_schedule: [] });
    await emit(platform, [none]);
    expect((await finished(none.webhookId)).attempts).to.have.length(1);

    const own = await subscribe(platform, endpoint.url, { retry_schedule: ["1h", "1h"] });
    await emit(platform, [own]);
    const waiting = await until(async () => {
      const delivery = await onlyDelivery(platform, own.webhookId);
      return delivery.attempts.length === 1 && delivery;
    });
    const waitMs = (waiting.next_attempt_at_ms ?? 0) - (waiting.attempts[0]?.at_ms ?? 0);
    expect(waitMs).to.be.within(0.8 * 3_600_000, 1.2 * 3_600_000 + 5000);
    await updateWebhook(platform, await webhookOf(platform, own.webhookId), { retry_schedule: ["1h"] });
    const unchanged = await onlyDelivery(platform, own.webhookId);
    expect(unchanged.next_attempt_at_ms, "what waits").to.equal(waiting.next_attempt_at_ms);
    await requeue(platform, [unchanged]);
    await until(async () => (await onlyDelivery(platform, own.webhookId)).attempts.length === 2);
    await updateWebhook(platform, await webhookOf(platform, own.webhookId), { retry_schedule: [] });
    await requeue(platform, [await onlyDelivery(platform, own.webhookId)]);
    expect(await finished(own.webhookId)).to.include({ state: "failed", reason: "exhausted" });
  });

  for (const [what, reply] of [
    ["a 429", 429],
    ["a time-out", "hang"],
  ] as const) {
    it(`waits at least the busy floor after ${what}`, async () => {
      const endpoint = await receiver(reply, 200);
      const listener = await subscribe(platform, endpoint.url);
      await emit(platform, [listener]);
      const waiting = await until(async () => {
        const delivery = await onlyDelivery(platform, listener.webhookId);
        return delivery.attempts.length === 1 && delivery;
      });
      const [first] = waiting.attempts;
      expect((waiting.next_attempt_at_ms ?? 0) - (first?.at_ms ?? 0)).to.be.at.least(BUSY_FLOOR_MS);
      expect((await finished(listener.webhookId)).state).to.equal("delivered");
    });
  }

  it("disables the webhook after a 410, and counts later events as dropped", async () => {
    const endpoint = await receiver(500, 410);
    const listener = await subscribe(platform, endpoint.url);
    await emit(platform, [listener]);
    expect(await finished(listener.webhookId)).to.include({ state: "failed", reason: "gone" });
    const webhook = await until(async () => {
      const found = await webhookOf(platform, listener.webhookId);
      return !found.active && found;
    });
    expect(webhook.disabled_reason).to.equal("the endpoint returned 410 Gone");
    const before = (await readDrops(platform, EMITTER))["webhook-disabled"] ?? 0;
    await emit(platform, [listener]);
    expect((await deliveriesOf(platform, listener.webhookId)).map(({ reason }) => reason)).to.deep.equal([
      "gone",
      "webhook-disabled",
    ]);
    expect((await readDrops(platform, EMITTER))["webhook-disabled"]).to.equal(before + 1);
    expect(endpoint.requests).to.have.length(2);
  });

  it("fails deliveries that were scheduled before their webhook was disabled", async () => {
    const endpoint = await receiver(500, 410, 200);
    const listener = await subscribe(platform, endpoint.url);
    await emit(platform, [listener]);
    await until(() => endpoint.requests.length === 1);
    await emit(platform, [listener]);
    const reasons = await until(async () => {
      const all = await deliveriesOf(platform, listener.webhookId);
      return all.every(({ state }) => state === "failed") && all.map(({ reason }) => reason);
    });
    expect(reasons.sort()).to.deep.equal(["gone", "webhook-disabled"]);
  });

  it("records since when a webhook is failing, and clears it with the next success", async () => {
    const endpoint = await receiver(500, 200);
    const listener = await subscribe(platform, endpoint.url);
    await emit(platform, [listener]);
    await until(async () => (await webhookOf(platform, listener.webhookId)).failing_since_ms !== null);
    await until(async () => (await stateOf(listener.webhookId)) === "delivered");
    await until(async () => (await webhookOf(platform, listener.webhookId)).failing_since_ms === null);
  });

  it("cancels a delivery if its webhook was deleted", async () => {
    const endpoint = await receiver(500);
    const listener = await subscribe(platform, endpoint.url);
    await emit(platform, [listener]);
    await until(() => endpoint.requests.length === 1);
    await deleteWebhook(platform, await webhookOf(platform, listener.webhookId));
    const delivery = await finished(listener.webhookId);
    expect(delivery).to.include({ state: "cancelled", reason: "webhook-deleted" });
  });

  it("cancels a delivery that a crash during the webhook's deletion left pending", async () => {
    // Its next attempt comes after the time limit and the busy floor.
    const endpoint = await receiver("hang");
    const listener = await subscribe(platform, endpoint.url);
    await emit(platform, [listener]);
    await until(() => endpoint.requests.length === 1);
    // What a deletion does first.
    await Webhooks(platform.mongo).deleteOne({ _id: listener.webhookId });
    expect(await finished(listener.webhookId)).to.include({ state: "cancelled", reason: "webhook-deleted" });
  });

  it("cancels a delivery if its subscription was deleted", async () => {
    const endpoint = await receiver(500);
    const listener = await subscribe(platform, endpoint.url);
    await emit(platform, [listener]);
    await until(() => endpoint.requests.length === 1);
    await Subscriptions(platform.mongo).deleteOne({ _id: listener.subscriptionId });
    expect(await finished(listener.webhookId)).to.include({
      state: "cancelled",
      reason: "subscription-deleted",
    });
    expect(endpoint.requests).to.have.length(1);
  });

  it("counts every attempt by its outcome", async () => {
    const retries = () => platform.metrics.valueOf("deliveries_total", { outcome: "retry" });
    const before = await retries();
    const endpoint = await receiver(500, 200);
    const listener = await subscribe(platform, endpoint.url);
    await emit(platform, [listener]);
    await finished(listener.webhookId);
    expect(await retries()).to.equal(before + 1);
  });
});

describe("a deliveries worker that is stopped", () => {
  it("aborts an attempt that hangs, records nothing of it, and another worker delivers", async () => {
    const platform = await openTestPlatform({}, { process: "deliveries" });
    const endpoint = await startReceiver("hang");
    const first = startDeliveries(platform);
    try {
      const listener = await subscribe(platform, endpoint.url);
      await emit(platform, [listener]);
      await until(() => endpoint.hanging() === 1);
      await first.close(100);
      expect(await onlyDelivery(platform, listener.webhookId)).to.deep.include({
        state: "pending",
        attempts: [],
      });
      expect((await webhookOf(platform, listener.webhookId)).failing_since_ms).to.equal(null);
      endpoint.script(200);
      const second = startDeliveries(platform);
      await until(async () => (await onlyDelivery(platform, listener.webhookId)).state === "delivered");
      await second.close(5000);
    } finally {
      await endpoint.close();
      await platform.destroy();
    }
  });
});

describe("a webhook that has only failed for too long", () => {
  it("is disabled, with the reason shown", async () => {
    const platform = await openTestPlatform({ TIMEOUTS: "disable:50ms" }, { process: "deliveries" });
    const worker = startDeliveries(platform);
    const endpoint = await startReceiver(500);
    try {
      const listener = await subscribe(platform, endpoint.url);
      await emit(platform, [listener]);
      const webhook = await until(async () => {
        const found = await webhookOf(platform, listener.webhookId);
        return !found.active && found;
      });
      const since = new Date(webhook.failing_since_ms ?? 0).toISOString();
      expect(webhook.disabled_reason).to.equal(`every attempt has failed since ${since}`);
      await until(
        async () => (await onlyDelivery(platform, listener.webhookId)).reason === "webhook-disabled",
      );
    } finally {
      await endpoint.close();
      await worker.close(5000);
      await platform.destroy();
    }
  });
});
