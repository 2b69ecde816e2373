// runs-long: npm test has test/flows/every-listener.test.ts and test/destinations/redis-stream.test.ts
import { expect } from "chai";
import { emit } from "../deliveries/fixtures.ts";
import type { TestPlatform } from "../support/platform.ts";
import { BROKER, openRabbitMq, type RabbitMq } from "../support/rabbitmq.ts";
import { skipBecause } from "../support/skip.ts";
import {
  type Delivering,
  finishedDelivery,
  startDelivering,
  subscribeDestination,
  testDestination,
} from "./fixtures.ts";
import { deliversToOwnServer } from "./own-server.ts";

describe("deliveries to RabbitMQ", () => {
  let delivering: Delivering;
  let platform: TestPlatform;
  let broker: RabbitMq;

  before(async function () {
    const opened = await openRabbitMq();
    if ("missing" in opened) skipBecause(this, opened.missing);
    broker = opened;
    // A broker takes long to start on a busy machine.
    delivering = await startDelivering(Array(200).fill("2s"));
    platform = delivering.platform;
  });
  after(async () => {
    await delivering?.close();
    await broker?.close();
  });

  const queueOf = (queue: string, more: object = {}) => ({
    rabbitmq: { url: broker.url, ...BROKER, queue, ...more },
  });
  const test = (settings: object) =>
    testDestination(platform, { rabbitmq: { url: broker.url, ...BROKER, ...settings } });

  it("publishes an event with its ids to a queue, to be kept on disk", async () => {
    await broker.queue("orders");
    const listener = await subscribeDestination(platform, queueOf("orders"));
    const event = await emit(platform, [listener], { hello: "wörld" });
    const delivery = await finishedDelivery(platform, listener.webhookId);
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

  deliversToOwnServer(() => ({
    platform,
    async destinationAt(queue) {
      await broker.queue(queue);
      return queueOf(queue);
    },
    received: async queue =>
      (await broker.messages(queue)).map(({ content, properties }) => ({
        id: properties.messageId,
        body: content.toString(),
      })),
    kill: broker.kill,
    start: broker.start,
    connections: broker.connections,
    ownConnections: 1,
  }));
});
