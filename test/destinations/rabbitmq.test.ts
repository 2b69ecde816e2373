import { expect } from "chai";
import { sendTest } from "../../src/deliveries/attempt/send-test.ts";
import { createDestination } from "../../src/destinations/create.ts";
import { deleteDestination } from "../../src/destinations/delete.ts";
import type { RunningWorker } from "../../src/queues/run-worker.ts";
import { start as startDeliveries } from "../../workers/deliveries.ts";
import { deliveriesOf, emit, OWNER, onlyDelivery, webhookOf } from "../deliveries/fixtures.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { BROKER, openRabbitMq, type RabbitMq } from "../support/rabbitmq.ts";
import { until } from "../support/until.ts";
import { subscribeDestination } from "./fixtures.ts";

describe("deliveries to RabbitMQ", () => {
  let platform: TestPlatform;
  let worker: RunningWorker;
  let broker: RabbitMq;

  before(async function () {
    const opened = await openRabbitMq();
    if ("missing" in opened) {
      console.log(`      skipped: ${opened.missing}`);
      this.skip();
    }
    broker = opened;
    platform = await openTestPlatform(
      // A broker takes long to start on a busy machine.
      { DELIVERY_RETRY_SCHEDULE: Array(200).fill("2s").join(",") },
      { process: "deliveries" },
    );
    worker = startDeliveries(platform, { busyFloorMs: 100 });
    await worker.ready();
  });
  after(async () => {
    await worker?.close(5000);
    await platform?.destroy();
    await broker?.close();
  });

  const queueOf = (queue: string, more: object = {}) => ({
    rabbitmq: { url: broker.url, ...BROKER, queue, ...more },
  });
  const finished = (webhookId: string) =>
    until(async () => {
      const delivery = await onlyDelivery(platform, webhookId);
      return delivery.state !== "pending" && delivery;
    });
  const test = async (settings: object) => {
    const body = { rabbitmq: { url: broker.url, ...BROKER, ...settings } };
    const { id } = await createDestination(platform, { ...body, ownerId: OWNER, userId: OWNER });
    return await sendTest(platform, await webhookOf(platform, id));
  };

  it("publishes an event with its ids to a queue, to be kept on disk", async () => {
    await broker.queue("orders");
    const listener = await subscribeDestination(platform, queueOf("orders"));
    const event = await emit(platform, [listener], { hello: "wörld" });
    const delivery = await finished(listener.webhookId);
    expect(delivery.attempts[0]).to.include({ status: 200, error: null, response: "confirmed" });
    const [message, ...others] = await broker.messages("orders");
    expect(others).to.deep.equal([]);
    expect(message?.content.toString()).to.equal('{"hello":"wörld"}');
    expect(message?.properties).to.deep.include({
      messageId: delivery._id,
      contentType: "application/json",
      appId: "headwater",
      deliveryMode: 2,
    });
    expect(message?.properties.headers).to.include({
      "x-headwater-event-id": event.event_id,
      "x-headwater-emitter-id": event.emitter_id,
      "x-headwater-event-name": "",
      "x-headwater-attempt": 1,
    });
  });

  it("publishes to an exchange, with a routing key", async () => {
    await broker.exchange("events", "made.orders", "routed");
    expect((await test({ exchange: "events", routing_key: "made.orders" })).error).to.equal(null);
    expect(await broker.messages("routed")).to.have.length(1);
  });

  it("says what is missing: queue, exchange, route, virtual host, right, password", async () => {
    await broker.exchange("lonely", "a", "lonely-queue");
    for (const [settings, error] of [
      [{ queue: "absent" }, "rejected: NO_ROUTE: there is no queue absent"],
      [{ exchange: "lonely", routing_key: "b" }, /^rejected: NO_ROUTE: .* for key "b"$/],
      [{ exchange: "absent" }, /^rejected: 404 \(NOT-FOUND\) .*no exchange 'absent'/],
      [
        { queue: "x", url: `${broker.url}/absent` },
        "rejected: there is no such virtual host, or the user has no right to it",
      ],
      [{ queue: "x", password: "wrong" }, /^rejected: 403 \(ACCESS-\w+\) /],
    ] as const) {
      const result = await test(settings);
      expect(result).to.include({ status: null, response: "" });
      if (typeof error === "string") expect(result.error).to.equal(error);
      else expect(result.error).to.match(error);
    }
  });

  it("reports a full queue that accepts no more, and delivers once there is room", async () => {
    await broker.queue("full", { "x-max-length": 1, "x-overflow": "reject-publish" });
    expect((await test({ queue: "full" })).error).to.equal(null);
    expect((await test({ queue: "full" })).error).to.equal(
      "rejected: the broker does not accept the message now",
    );
    await broker.messages("full");
    expect((await test({ queue: "full" })).error).to.equal(null);
  });

  it("keeps the order of the events if the destination is ordered", async () => {
    await broker.queue("in-order");
    const listener = await subscribeDestination(platform, { ...queueOf("in-order"), ordered: true });
    for (let n = 0; n < 20; n++) await emit(platform, [listener], { n });
    await until(async () => {
      const all = await deliveriesOf(platform, listener.webhookId);
      return all.length === 20 && all.every(({ state }) => state === "delivered");
    });
    const numbers = (await broker.messages("in-order")).map(({ content }) => JSON.parse(String(content)).n);
    expect(numbers).to.deep.equal([...numbers.keys()]);
  });

  it("retries after the broker was killed, and publishes each event under its one id", async () => {
    await broker.queue("killed");
    const listener = await subscribeDestination(platform, queueOf("killed"));
    await emit(platform, [listener], { n: 1 });
    await until(async () => (await deliveriesOf(platform, listener.webhookId))[0]?.state === "delivered");
    await broker.kill();
    for (const n of [2, 3, 4]) await emit(platform, [listener], { n });
    await until(async () =>
      (await deliveriesOf(platform, listener.webhookId))
        .slice(1)
        .every(({ attempts }) => attempts.length > 0),
    );
    await broker.start();
    const delivered = await until(async () => {
      const all = await deliveriesOf(platform, listener.webhookId);
      return all.every(({ state }) => state === "delivered") && all;
    });
    expect(delivered[1]?.attempts[0]?.error).to.match(/^(connect|reset): /);
    const ids = new Set((await broker.messages("killed")).map(({ properties }) => properties.messageId));
    expect([...ids].sort()).to.deep.equal(delivered.map(({ _id }) => _id).sort());
  });

  it("uses one connection for a destination, and closes it when the destination is deleted", async () => {
    await broker.queue("one");
    const { id } = await createDestination(platform, { ...queueOf("one"), ownerId: OWNER, userId: OWNER });
    // Only the test's own.
    await until(() => platform.lastingConnections.size === 0 && broker.connections() === 1);
    const destination = await webhookOf(platform, id);
    await Promise.all(Array.from({ length: 20 }, () => sendTest(platform, destination)));
    expect(broker.connections()).to.equal(2);
    await deleteDestination(platform, id);
    await until(() => broker.connections() === 1);
  });
});
