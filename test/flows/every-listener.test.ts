import { expect } from "chai";
import { type AccountRedis, openAccountRedis, PASSWORD } from "../support/account-redis.ts";
import type { Api } from "../support/api.ts";
import { BROKER, openRabbitMq, type RabbitMq } from "../support/rabbitmq.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const ACTION = `export default { name: "Poster", version: "0.0.1", type: "action",
  props: { url: "string", text: "string" },
  async run({ steps, $ }) {
    const { id } = steps.trigger.context;
    const response = await fetch(this.url, { method: "POST", headers: { "webhook-id": id }, body: this.text });
    if (!response.ok) throw new Error("the app responded " + response.status);
    $.export("$summary", "Posted " + this.text);
  } };`;

const FUNCTION = `export default ({ order }) => {
  if (order % 2 === 0) return null;
  return { shouted: "ORDER " + order };
};`;

describe("one event for a webhook, a function, an action, a stream and a queue", () => {
  let system: System;
  let api: Api & { userId: string };
  let redis: AccountRedis;
  let broker: RabbitMq | undefined;
  let plain: Receiver;
  let changed: Receiver;
  let app: Receiver;

  before(async () => {
    const opened = await openRabbitMq();
    if ("missing" in opened) console.log(`    without a queue: ${opened.missing}`);
    else broker = opened;
    [redis, plain, changed, app] = await Promise.all([
      openAccountRedis(),
      startReceiver(500, 200),
      startReceiver(500, 200),
      startReceiver(500, 200),
    ]);
    system = await startSystem({
      SANDBOX_EGRESS_ALLOW: "127.0.0.0/8",
      // A broker takes long to start on a busy machine.
      DELIVERY_RETRY_SCHEDULE: Array(150).fill("1s").join(","),
    });
    api = await system.user();
  });
  after(async () => {
    await system?.stop();
    await Promise.all([plain, changed, app].map(one => one?.close()));
    await Promise.all([redis?.close(), broker?.close()]);
  });

  /** Each of them gets the workflow's events; returns their ids. */
  async function subscribeAll(workflow: string): Promise<Record<string, string>> {
    const destination = async (body: object): Promise<string> =>
      (await api.expect(201, "POST", "/destinations", { body })).id;
    const configured_props = { url: app.url, text: "order {{event.order}}" };
    const ids: Record<string, string> = {
      webhook: (await api.createWebhook(plain.url)).id,
      function: (await api.createWebhook(changed.url)).id,
      action: await destination({ action: { component_code: ACTION, configured_props } }),
      stream: await destination({
        redis_stream: { url: redis.url, password: PASSWORD, stream: "orders" },
      }),
    };
    if (broker) {
      await broker.queue("orders");
      ids.queue = await destination({ rabbitmq: { url: broker.url, ...BROKER, queue: "orders" } });
    }
    for (const [name, listener_id] of Object.entries(ids)) {
      const query = { emitter_id: workflow, listener_id };
      await api.expect(200, "POST", "/subscriptions", {
        query,
        body: name === "function" ? { function: FUNCTION } : {},
      });
    }
    return ids;
  }

  const deliveriesOf = async (id: string) => {
    const path = id.startsWith("wh_") ? "webhooks" : "destinations";
    return (await api.request("GET", `/${path}/${id}/deliveries`, {})).body.data as {
      id: string;
      state: string;
      attempts_count?: number;
    }[];
  };

  it("reaches each of them, again after a fault and never under another id, and what one drops the others get", async () => {
    const { id: workflow } = await api.expect(201, "POST", "/workflows", { body: { name: "orders" } });
    const ids = await subscribeAll(workflow);
    // Each of them fails at first.
    await Promise.all([redis.kill(), broker?.kill()]);
    await api.expect(202, "POST", `/workflows/${workflow}/events`, {
      body: { events: [{ event: { order: 7 } }, { event: { order: 8 } }] },
    });
    await until(
      async () => {
        const failing = [ids.stream, ids.queue].filter(id => id !== undefined);
        const found = await Promise.all(failing.map(deliveriesOf));
        return found.every(list => list.length === 2);
      },
      { what: "an attempt at servers that are away" },
    );
    await Promise.all([redis.start(), broker?.start()]);
    for (const [name, id] of Object.entries(ids)) {
      const states = await until(
        async () => {
          const all = (await deliveriesOf(id)).map(({ state }) => state);
          return all.length === 2 && !all.includes("pending") && all.sort();
        },
        { what: `the end of deliveries to the ${name}`, timeoutMs: 150_000 },
      );
      expect(states, name).to.deep.equal(
        name === "function" ? ["cancelled", "delivered"] : ["delivered", "delivered"],
      );
    }

    const distinct = (at: Receiver) => new Set(at.requests.map(({ headers }) => headers["webhook-id"]));
    const bodies = (at: Receiver) => [...new Set(at.requests.map(({ raw }) => raw))].sort();
    expect(bodies(plain)).to.deep.equal(['{"order":7}', '{"order":8}']);
    expect(bodies(changed)).to.deep.equal(['{"shouted":"ORDER 7"}']);
    expect(bodies(app)).to.deep.equal(["order 7", "order 8"]);
    expect([distinct(plain).size, distinct(changed).size, distinct(app).size]).to.deep.equal([2, 1, 2]);
    for (const at of [plain, changed, app]) expect(at.requests.length).to.be.above(distinct(at).size);

    const entries = await redis.entries("orders");
    expect(new Set(entries.map(({ id }) => id)).size).to.equal(2);
    expect([...new Set(entries.map(({ payload }) => payload))].sort()).to.deep.equal([
      '{"order":7}',
      '{"order":8}',
    ]);
    const messages = (await broker?.messages("orders")) ?? [];
    if (broker) {
      expect(new Set(messages.map(({ properties }) => properties.messageId)).size).to.equal(2);
      expect([...new Set(messages.map(({ content }) => content.toString()))].sort()).to.deep.equal([
        '{"order":7}',
        '{"order":8}',
      ]);
    }
  });
});
