import { expect } from "chai";
import { retryDelivery } from "../../src/deliveries/manual-retry.ts";
import { countFailed, startRecovery } from "../../src/deliveries/recover.ts";
import { recoverFailed } from "../../src/deliveries/worker/recover.ts";
import { AppError } from "../../src/lib/errors.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { Deliveries } from "../../src/models/delivery.ts";
import { StoredEvents } from "../../src/models/event.ts";
import { Subscriptions } from "../../src/models/subscription.ts";
import { type Recovery, Webhooks } from "../../src/models/webhook.ts";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { deliveries } from "../../src/queues/deliveries.ts";
import { Snooze } from "../../src/queues/verdicts.ts";
import { deleteWebhook, updateWebhook } from "../../src/webhooks/webhooks.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import {
  deliveriesOf,
  emit,
  onlyDelivery,
  runDrain,
  type Subscribed,
  subscribe,
  webhookOf,
} from "./fixtures.ts";

const hour = 3_600_000;

describe("manual retry", () => {
  let platform: TestPlatform;
  let endpoint: Receiver;
  let listener: Subscribed;
  let now = Date.now();

  beforeEach(async () => {
    now = Date.now();
    platform = await openTestPlatform(
      { DELIVERY_RETRY_SCHEDULE: "1h,1h" },
      { process: "deliveries", clock: () => now },
    );
    endpoint = await startReceiver(500);
    listener = await subscribe(platform, endpoint.url);
  });
  afterEach(async () => {
    await endpoint.close();
    await platform.destroy();
  });

  const delivery = () => onlyDelivery(platform, listener.webhookId);
  /** Makes the attempt that is due, as the worker does. */
  const attempt = () => runDrain(platform, listener.webhookId);
  const codeOf = async (attempt: Promise<unknown>) => {
    const error = await attempt.catch((thrown: unknown) => thrown);
    return error instanceof AppError ? error.code : "no error";
  };

  it("replaces the scheduled attempt", async () => {
    await emit(platform, [listener]);
    await attempt();
    expect(await delivery()).to.include({ state: "pending", generation: 1, retry_index: 1 });
    const retried = await retryDelivery(platform, await delivery());
    expect(retried).to.include({ state: "pending", generation: 2, retry_index: 0, next_attempt_at_ms: now });
    endpoint.script(200);
    expect(await attempt()).to.include({ delivered: 1 });
    now += 2 * hour;
    expect(await attempt(), "the scheduled one").to.include({ attempts: 0 });
    expect(endpoint.requests).to.have.length(2);
    expect((await delivery()).attempts.map(({ trigger }) => trigger)).to.deep.equal(["schedule", "manual"]);
  });

  it("is made at once", async () => {
    await emit(platform, [listener]);
    await attempt();
    await openedQueue(platform.queues, deliveries).obliterate({ force: true });
    await retryDelivery(platform, await delivery());
    const [job] = await openedQueue(platform.queues, deliveries).getDelayed();
    expect(job?.name).to.equal("drain");
    expect(job?.delay).to.be.at.most(100);
  });

  it("restarts the retry schedule", async () => {
    await emit(platform, [listener]);
    for (let n = 0; n < 3; n++) {
      await attempt();
      now += 2 * hour;
    }
    expect(await delivery()).to.include({ state: "failed", reason: "exhausted" });
    await retryDelivery(platform, await delivery());
    await attempt();
    const again = await delivery();
    expect(again).to.include({ state: "pending", retry_index: 1, trigger: "schedule" });
    expect((again.next_attempt_at_ms ?? 0) - now).to.be.within(hour * 0.8, hour * 1.2);
    expect(again.attempts.map(({ number, trigger }) => `${number} ${trigger}`)).to.deep.equal([
      "1 schedule",
      "2 schedule",
      "3 schedule",
      "4 manual",
    ]);
  });

  it("sends a delivered event again, under the same webhook-id", async () => {
    endpoint.script(200);
    await emit(platform, [listener]);
    await attempt();
    await retryDelivery(platform, await delivery());
    await attempt();
    const ids = endpoint.requests.map(({ headers }) => headers["webhook-id"]);
    expect(ids).to.deep.equal([(await delivery())._id, (await delivery())._id]);
  });

  it("logs the attempt that was in flight, and ignores its result", async () => {
    await emit(platform, [listener]);
    endpoint.script(async () => {
      await retryDelivery(platform, await delivery());
      return 500;
    });
    await attempt();
    expect(await delivery()).to.include({
      state: "pending",
      generation: 1,
      retry_index: 0,
      trigger: "manual",
    });
    expect((await delivery()).attempts).to.have.length(1);
  });

  it("keeps the last fifty attempts, and continues their numbers", async () => {
    await emit(platform, [listener]);
    const fifty = Array.from({ length: LIMITS.attemptsKept.value }, (_, index) => ({
      number: index + 1,
      at_ms: 0,
      trigger: "manual" as const,
      status: 500,
      latency_ms: 1,
      error: null,
      response: "",
    }));
    await Deliveries(platform.mongo).updateOne(
      { webhook_id: listener.webhookId },
      { $set: { attempts: fifty } },
    );
    await attempt();
    const { attempts } = await delivery();
    expect(attempts).to.have.length(LIMITS.attemptsKept.value);
    expect([attempts.at(0)?.number, attempts.at(-1)?.number]).to.deep.equal([2, 51]);
    expect(endpoint.requests[0]?.headers["x-headwater-attempt"]).to.equal("51");
  });

  it("is rejected if the webhook is disabled, or webhook, subscription or payload are gone", async () => {
    await emit(platform, [listener]);
    const failing = await delivery();
    await updateWebhook(platform, await webhookOf(platform, listener.webhookId), { active: false });
    expect(await codeOf(retryDelivery(platform, failing))).to.equal("conflict");
    await updateWebhook(platform, await webhookOf(platform, listener.webhookId), { active: true });
    await StoredEvents(platform.mongo).deleteOne({ _id: failing.emit_id });
    expect(await codeOf(retryDelivery(platform, failing))).to.equal("conflict");
    await Subscriptions(platform.mongo).deleteOne({ _id: listener.subscriptionId });
    expect(await codeOf(retryDelivery(platform, failing))).to.equal("conflict");
    await deleteWebhook(platform, await webhookOf(platform, listener.webhookId));
    expect(await codeOf(retryDelivery(platform, failing))).to.equal("conflict");
  });

  it("fails a scheduled delivery whose payload is gone", async () => {
    await emit(platform, [listener]);
    await StoredEvents(platform.mongo).deleteMany({});
    expect(await attempt(), "a new event may not be stored yet").to.include({ attempts: 0 });
    expect(await delivery()).to.include({ state: "pending", next_attempt_at_ms: now + 1000 });
    now += 2 * hour;
    expect(await attempt()).to.include({ ended: 1 });
    expect(await delivery()).to.include({ state: "failed", reason: "payload-gone" });
  });

  it("waits for an event that is stored minutes late, because its emission came again after an outage", async () => {
    await emit(platform, [listener]);
    const [stored] = await StoredEvents(platform.mongo).find().lean();
    await StoredEvents(platform.mongo).deleteMany({});
    now += 180_000;
    expect(await attempt()).to.include({ attempts: 0 });
    expect(await delivery(), "looked for less often by now").to.include({
      state: "pending",
      next_attempt_at_ms: now + 45_000,
    });
    if (stored) await StoredEvents(platform.mongo).insertOne(stored);
    now += 45_000;
    endpoint.script(200);
    expect(await attempt()).to.include({ attempts: 1 });
    expect(await delivery()).to.include({ state: "delivered" });
  });

  describe("of all failed deliveries since a moment", () => {
    const webhook = () => webhookOf(platform, listener.webhookId);
    const failAll = () =>
      Deliveries(platform.mongo).updateMany(
        { webhook_id: listener.webhookId },
        { $set: { state: "failed", reason: "exhausted", next_attempt_at_ms: null, sweep_at_ms: null } },
      );
    const recovery = async () => (await webhook()).recovery;
    const jobs = () => openedQueue(platform.queues, deliveries).getJobCountByTypes("waiting", "delayed");
    /** Handles the job of the recovery once, as a worker does; returns true if it comes back. */
    const work = async (started: Recovery, batchSize?: number) => {
      const job = { webhook_id: listener.webhookId, recovery_id: started.id };
      const ended = recoverFailed(platform, { job }, batchSize).catch((error: unknown) => error);
      const thrown = await ended;
      if (thrown instanceof Error && !(thrown instanceof Snooze)) throw thrown;
      return thrown instanceof Snooze;
    };
    const recoverSince = async (sinceMs: number) => {
      const started = await startRecovery(platform, await webhook(), sinceMs);
      while (await work(started));
      return recovery();
    };

    it("counts and retries the failed deliveries of events since then", async () => {
      await emit(platform, [listener]);
      now += 2 * hour;
      await emit(platform, [listener]);
      await emit(platform, [listener]);
      await failAll();
      expect(await countFailed(platform, await webhook(), now - hour)).to.equal(2);
      expect(await recoverSince(now - hour)).to.include({ count: 2, recovered: 2, state: "done" });
      const states = (await deliveriesOf(platform, listener.webhookId)).map(({ state, generation }) => [
        state,
        generation,
      ]);
      expect(states).to.deep.equal([
        ["failed", 0],
        ["pending", 1],
        ["pending", 1],
      ]);
      expect(await recoverSince(now - hour)).to.include({ count: 0, recovered: 0, state: "done" });
    });

    it("leaves delivered ones, and those without a payload, as they are", async () => {
      const lost = await emit(platform, [listener]);
      await emit(platform, [listener]);
      const done = await emit(platform, [listener]);
      await failAll();
      await StoredEvents(platform.mongo).deleteOne({ _id: lost._id });
      await Deliveries(platform.mongo).updateOne({ emit_id: done._id }, { $set: { state: "delivered" } });
      expect(await recoverSince(0)).to.include({ count: 2, recovered: 1 });
    });

    it("touches one batch at a time, however many have failed, and none twice", async () => {
      await emit(platform, [listener]);
      await failAll();
      const { _id, ...rest } = await delivery();
      const copies = Array.from({ length: 1100 }, (_, index) => ({
        ...rest,
        _id: `${_id}${String(index).padStart(4, "0")}`,
      }));
      await Deliveries(platform.mongo).insertMany(copies);
      const pending = () => Deliveries(platform.mongo).countDocuments({ state: "pending" });
      const started = await startRecovery(platform, await webhook(), 0);
      expect(await pending(), "the request does none").to.equal(0);
      for (const recovered of [500, 1000]) {
        expect(await work(started)).to.equal(true);
        expect(await recovery()).to.include({ count: 1101, recovered, state: "running" });
        expect(await pending()).to.equal(recovered);
      }
      // As if the worker had been killed before it stored how far it is.
      const before = await recovery();
      await work(started);
      await Webhooks(platform.mongo).updateOne({}, { $set: { recovery: before } });
      expect(await work(started)).to.equal(false);
      expect(await recovery()).to.include({ state: "done" });
      const rows = await deliveriesOf(platform, listener.webhookId);
      expect(rows.every(({ state, generation }) => state === "pending" && generation === 1)).to.equal(true);
    });

    it("is done once for equal requests, and replaced by one that reaches further back", async () => {
      for (let i = 0; i < 3; i++) await emit(platform, [listener]);
      await failAll();
      const before = await jobs();
      const first = await startRecovery(platform, await webhook(), 5000);
      for (const since of [5000, 9000]) {
        expect(await startRecovery(platform, await webhook(), since)).to.deep.equal(first);
      }
      expect(await jobs()).to.equal(before + 1);
      const second = await startRecovery(platform, await webhook(), 0);
      expect(await work(first, 1), "superseded").to.equal(false);
      expect((await recovery())?.recovered).to.equal(0);
      expect(await work(second, 2)).to.equal(true);
      expect(await work(second, 2)).to.equal(false);
      expect(await recovery()).to.include({ id: second.id, recovered: 3, state: "done" });
    });

    it("is started again by a request if its job was lost", async () => {
      const lost = await startRecovery(platform, await webhook(), 0);
      await openedQueue(platform.queues, deliveries).obliterate({ force: true });
      expect((await startRecovery(platform, await webhook(), 0)).id).not.to.equal(lost.id);
    });

    it("is rejected for a disabled webhook, and stops at one that is disabled in between", async () => {
      const started = await startRecovery(platform, await webhook(), 0);
      await updateWebhook(platform, await webhook(), { active: false });
      expect(await codeOf(startRecovery(platform, await webhook(), 0))).to.equal("conflict");
      expect(await work(started)).to.equal(false);
      expect(await recovery()).to.include({ state: "stopped", finished_at_ms: now });
    });
  });
});
