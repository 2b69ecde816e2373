import { expect } from "chai";
import { retryDelivery } from "../../src/deliveries/manual-retry.ts";
import { countFailed, recoverFailed } from "../../src/deliveries/recover.ts";
import { makeNextAttempt } from "../../src/deliveries/worker/next-attempt.ts";
import { AppError } from "../../src/lib/errors.ts";
import { Deliveries } from "../../src/models/delivery.ts";
import { StoredEvents } from "../../src/models/event.ts";
import { Subscriptions } from "../../src/models/subscription.ts";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { deliveries } from "../../src/queues/deliveries.ts";
import { deleteWebhook } from "../../src/webhooks/delete.ts";
import { updateWebhook } from "../../src/webhooks/update.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import {
  deliveriesOf,
  emit,
  onlyDelivery,
  openShared,
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
  /** Handles the delivery's job of this generation, as the worker does. */
  const handleJob = async (generation: number) =>
    makeNextAttempt(
      platform,
      { job: { delivery_id: (await delivery())._id, webhook_id: listener.webhookId, generation } },
      openShared(platform),
    );
  const codeOf = async (attempt: Promise<unknown>) => {
    const error = await attempt.catch((thrown: unknown) => thrown);
    return error instanceof AppError ? error.code : "no error";
  };

  it("replaces the scheduled attempt, whose job is superseded", async () => {
    await emit(platform, [listener]);
    await handleJob(0);
    expect(await delivery()).to.include({ state: "pending", generation: 1, retry_index: 1 });
    const retried = await retryDelivery(platform, await delivery());
    expect(retried).to.include({ state: "pending", generation: 2, retry_index: 0, next_attempt_at_ms: now });
    endpoint.script(200);
    expect(await handleJob(1)).to.include({ result: "superseded" });
    expect(endpoint.requests).to.have.length(1);
    expect(await handleJob(2)).to.include({ result: "delivered" });
    expect((await delivery()).attempts.map(({ trigger }) => trigger)).to.deep.equal(["schedule", "manual"]);
  });

  it("enqueues the new generation at once", async () => {
    await emit(platform, [listener]);
    await handleJob(0);
    const { _id } = await retryDelivery(platform, await delivery());
    const job = await openedQueue(platform.queues, deliveries).getJob(`${_id}-2`);
    expect(job?.opts.delay ?? 0).to.equal(0);
  });

  it("restarts the retry schedule", async () => {
    await emit(platform, [listener]);
    for (const generation of [0, 1, 2]) await handleJob(generation);
    expect(await delivery()).to.include({ state: "failed", reason: "exhausted" });
    await retryDelivery(platform, await delivery());
    await handleJob(4);
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
    await handleJob(0);
    await retryDelivery(platform, await delivery());
    await handleJob(2);
    const ids = endpoint.requests.map(({ headers }) => headers["webhook-id"]);
    expect(ids).to.deep.equal([(await delivery())._id, (await delivery())._id]);
  });

  it("logs the attempt that was in flight, and ignores its result", async () => {
    await emit(platform, [listener]);
    endpoint.script(async () => {
      await retryDelivery(platform, await delivery());
      return 500;
    });
    expect(await handleJob(0)).to.include({ recorded: false });
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
    const fifty = Array.from({ length: 50 }, (_, index) => ({
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
    await handleJob(0);
    const { attempts } = await delivery();
    expect(attempts).to.have.length(50);
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
    await deleteWebhook(platform, listener.webhookId);
    expect(await codeOf(retryDelivery(platform, failing))).to.equal("conflict");
  });

  it("fails a scheduled delivery whose payload is gone", async () => {
    await emit(platform, [listener]);
    await StoredEvents(platform.mongo).deleteMany({});
    expect(await codeOf(handleJob(0)), "a new event may not be stored yet").to.equal("unavailable");
    await Deliveries(platform.mongo).updateMany({}, { $set: { created_at: new Date(Date.now() - 120_000) } });
    expect(await handleJob(0)).to.include({ result: "payload-gone" });
    expect(await delivery()).to.include({ state: "failed", reason: "payload-gone" });
  });

  describe("of all failed deliveries since a moment", () => {
    const webhook = () => webhookOf(platform, listener.webhookId);
    const failAll = () =>
      Deliveries(platform.mongo).updateMany(
        { webhook_id: listener.webhookId },
        { $set: { state: "failed", reason: "exhausted", next_attempt_at_ms: null, sweep_at_ms: null } },
      );

    it("counts and retries the failed deliveries of events since then", async () => {
      await emit(platform, [listener]);
      now += 2 * hour;
      await emit(platform, [listener]);
      await emit(platform, [listener]);
      await failAll();
      expect(await countFailed(platform, await webhook(), now - hour)).to.equal(2);
      expect(await recoverFailed(platform, await webhook(), now - hour)).to.equal(2);
      const states = (await deliveriesOf(platform, listener.webhookId)).map(({ state, generation }) => [
        state,
        generation,
      ]);
      expect(states).to.deep.equal([
        ["failed", 0],
        ["pending", 1],
        ["pending", 1],
      ]);
      expect(await recoverFailed(platform, await webhook(), now - hour)).to.equal(0);
    });

    it("leaves delivered ones, and those without a payload, as they are", async () => {
      const lost = await emit(platform, [listener]);
      await emit(platform, [listener]);
      const done = await emit(platform, [listener]);
      await failAll();
      await StoredEvents(platform.mongo).deleteOne({ _id: lost._id });
      await Deliveries(platform.mongo).updateOne({ emit_id: done._id }, { $set: { state: "delivered" } });
      expect(await recoverFailed(platform, await webhook(), 0)).to.equal(1);
    });

    it("works in batches, each due a little later than the one before", async () => {
      await emit(platform, [listener]);
      await failAll();
      const { _id, ...rest } = await delivery();
      const copies = Array.from({ length: 1100 }, (_, index) => ({
        ...rest,
        _id: `${_id}${String(index).padStart(4, "0")}`,
      }));
      await Deliveries(platform.mongo).insertMany(copies);
      expect(await recoverFailed(platform, await webhook(), 0)).to.equal(1101);
      const rows = await deliveriesOf(platform, listener.webhookId);
      expect(new Set(rows.map(({ next_attempt_at_ms }) => next_attempt_at_ms)).size).to.equal(3);
      expect(rows.every(({ state, trigger }) => state === "pending" && trigger === "manual")).to.equal(true);
    });

    it("is rejected for a disabled webhook", async () => {
      await updateWebhook(platform, await webhook(), { active: false });
      expect(await codeOf(recoverFailed(platform, await webhook(), 0))).to.equal("conflict");
    });
  });
});
