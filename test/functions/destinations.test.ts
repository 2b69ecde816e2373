import { expect } from "chai";
import { type AccountRedis, openAccountRedis, PASSWORD } from "../support/account-redis.ts";
import type { Api } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const ACTION = `export default {
  name: "Note", version: "0.0.1", type: "action", props: { note: "string" },
  run({ $, steps }) { $.export("got", steps.trigger.event); return this.note; },
};`;

const FUNCTION = `export default (event, meta) => {
  if (event.n === 1) return null;
  if (event.n === 2) throw new Error("no two");
  return { tenfold: event.n * 10, to: meta.listener_id };
};`;

/** docs/functions.md */
describe("a function before a destination", () => {
  let system: System;
  let redis: AccountRedis;
  let api: Api & { userId: string };
  let flow: string;

  before(async () => {
    redis = await openAccountRedis();
    system = await startSystem({ DELIVERY_RETRY_SCHEDULE: "200ms" });
    api = await system.user();
    flow = (await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } })).id;
  });
  after(async () => {
    await system?.stop();
    await redis?.close();
  });

  /** Sends three events through the function, and returns how their deliveries ended, by what they are of. */
  async function send(kind: object) {
    const { id } = await api.expect(201, "POST", "/destinations", { body: kind });
    const made = await api.expect(200, "POST", "/subscriptions", {
      query: { emitter_id: flow, listener_id: id, event_name: id },
      body: { function: FUNCTION },
    });
    await api.expect(202, "POST", `/workflows/${flow}/events`, {
      body: { events: [1, 2, 3].map(n => ({ name: id, event: { n } })) },
    });
    const deliveries = await until(async () => {
      const { data } = (await api.request("GET", `/destinations/${id}/deliveries`)).body;
      return data.length === 3 && data.every((one: { state: string }) => one.state !== "pending") && data;
    });
    const ended = deliveries.map(
      (one: { state: string; reason: string | null; last_attempt: { error: string | null } | null }) =>
        `${one.state} ${one.reason} ${one.last_attempt?.error}`,
    );
    expect(ended).to.have.members([
      "cancelled dropped-by-function undefined",
      "failed exhausted function: no two (line 3, column 28)",
      "delivered null null",
    ]);
    const { function_errors } = await api.expect(200, "GET", `/subscriptions/${made.id}`);
    expect(function_errors).to.equal(2);
    return { id, delivered: deliveries.find((one: { state: string }) => one.state === "delivered") };
  }

  it("changes what a stream gets, drops an event for it, and fails for it", async () => {
    const { id } = await send({ redis_stream: { url: redis.url, password: PASSWORD, stream: "changed" } });
    const payloads = (await redis.entries("changed")).map(({ payload }) => JSON.parse(payload ?? ""));
    expect(payloads).to.deep.equal([{ tenfold: 30, to: id }]);
  });

  it("changes what an action gets, also in its templates, drops an event for it, and fails for it", async () => {
    const { id, delivered } = await send({
      action: { component_code: ACTION, configured_props: { note: "{{event.tenfold}} it is" } },
    });
    const { attempts } = await api.expect(200, "GET", `/deliveries/${delivered.id}`);
    expect(attempts[0].output.exports).to.deep.equal({ got: { tenfold: 30, to: id } });
    expect(attempts[0].output.return_value).to.equal("30 it is");
  });
});
