import { expect } from "chai";
import { createDeliveries } from "../../../src/deliveries/dispatch/create.ts";
import { openedQueue } from "../../../src/queues/define-queue.ts";
import { deliveries } from "../../../src/queues/deliveries.ts";
import { readDrops } from "../../../src/store/events/drops.ts";
import { deleteWebhook, updateWebhook } from "../../../src/webhooks/webhooks.ts";
import { openTestPlatform, type TestPlatform } from "../../support/platform.ts";
import {
  deliveriesOf,
  EMITTER,
  emit,
  OWNER,
  onlyDelivery,
  storeEvent,
  subscribe,
  webhookOf,
} from "../fixtures.ts";

describe("creating deliveries", () => {
  let platform: TestPlatform;
  const jobs = () => openedQueue(platform.queues, deliveries).getJobs();

  before(async () => {
    platform = await openTestPlatform({}, { process: "emissions" });
  });
  after(() => platform.destroy());

  it("records a pending delivery and enqueues its first attempt", async () => {
    const listener = await subscribe(platform, "http://127.0.0.1:1/");
    const event = await emit(platform, [listener]);
    const delivery = await onlyDelivery(platform, listener.webhookId);
    expect(delivery).to.include({
      state: "pending",
      generation: 0,
      emit_id: event._id,
      event_id: event.event_id,
      owner_id: OWNER,
    });
    const drain = (await jobs()).find(({ data }) => data.webhook_id === listener.webhookId);
    expect(drain?.name).to.equal("drain");
    expect(drain?.data).to.include({ account_id: OWNER });
  });

  it("makes one delivery, however often the fan-out is repeated, and one drain of each webhook at a time", async () => {
    const one = await subscribe(platform, "http://127.0.0.1:1/");
    const two = await subscribe(platform, "http://127.0.0.1:1/");
    const event = await storeEvent(platform);
    const listeners = [one, two].map(listener => ({ ...listener, ownerId: OWNER }));
    await createDeliveries(platform, { event, listeners: listeners.slice(0, 1) });
    for (let i = 0; i < 3; i++) await createDeliveries(platform, { event, listeners });
    await onlyDelivery(platform, one.webhookId);
    await onlyDelivery(platform, two.webhookId);
    const moments = (await jobs())
      .filter(({ data }) => [one, two].some(({ webhookId }) => webhookId === data.webhook_id))
      .map(({ data }) => `${data.webhook_id} ${data.due_ms}`);
    expect(new Set(moments).size).to.equal(moments.length);
  });

  it("drains the webhook of a delivery that an earlier try stored and did not enqueue", async () => {
    const listener = await subscribe(platform, "http://127.0.0.1:1/");
    const event = await emit(platform, [listener]);
    await openedQueue(platform.queues, deliveries).obliterate({ force: true });
    await createDeliveries(platform, { event, listeners: [{ ...listener, ownerId: OWNER }] });
    expect((await jobs()).map(({ data }) => data.webhook_id)).to.deep.equal([listener.webhookId]);
  });

  it("records a delivery to a disabled webhook as failed, and counts the drop once", async () => {
    const listener = await subscribe(platform, "http://127.0.0.1:1/");
    await updateWebhook(platform, await webhookOf(platform, listener.webhookId), { active: false });
    const before = (await readDrops(platform, EMITTER))["webhook-disabled"] ?? 0;
    const event = await emit(platform, [listener]);
    await createDeliveries(platform, { event, listeners: [{ ...listener, ownerId: OWNER }] });
    const delivery = await onlyDelivery(platform, listener.webhookId);
    expect(delivery).to.include({ state: "failed", reason: "webhook-disabled", next_attempt_at_ms: null });
    expect((await readDrops(platform, EMITTER))["webhook-disabled"]).to.equal(before + 1);
    const dropped = await platform.metrics.valueOf("events_dropped_total", { reason: "webhook-disabled" });
    expect(dropped).to.be.greaterThan(0);
  });

  it("records nothing for a deleted webhook, or one that the subscription's owner can't access", async () => {
    const gone = await subscribe(platform, "http://127.0.0.1:1/");
    await deleteWebhook(platform, await webhookOf(platform, gone.webhookId));
    const foreign = await subscribe(platform, "http://127.0.0.1:1/", { ownerId: "o_0000000000000000" });
    await emit(platform, [gone, foreign]);
    expect(await deliveriesOf(platform, gone.webhookId)).to.deep.equal([]);
    expect(await deliveriesOf(platform, foreign.webhookId)).to.deep.equal([]);
    expect((await readDrops(platform, EMITTER))["listener-absent"]).to.be.greaterThan(0);
  });
});
