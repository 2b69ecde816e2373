import { expect } from "chai";
import type { Api } from "../support/api.ts";
import { append } from "../support/event-log.ts";
import { type System, startSystem } from "../support/system.ts";

describe("the test of a filter", () => {
  let system: System;
  let api: Api & { userId: string };
  let flow: string;
  before(async () => {
    system = await startSystem({}, { workers: false });
    api = await system.user();
    flow = (await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } })).id;
    const emit = (name: string, event: object) =>
      append(system.worker.eventLog, flow, "emits", {
        event: { raw_event: event },
        metadata: { emit_id: `emit-${JSON.stringify(event)}`, name, emitter_id: flow },
      });
    await emit("", { state: "open", n: 1 });
    await emit("orders", { state: "open", n: 2 });
    await emit("", { state: "closed", n: 3 });
  });
  after(() => system.stop());

  const test = (body: object) => api.request("POST", "/subscriptions/filter_test", { body });

  it("says of each of the last events of a channel whether it matches, and why not", async () => {
    const { body } = await test({ emitter_id: flow, filter: { state: "open" } });
    expect(body.data).to.include({ tested: 2, matched: 1 });
    const results = body.data.results.map(
      (one: { event: { raw_event: { n: number } }; matched: boolean; reason: string | null }) => [
        one.event.raw_event.n,
        one.matched,
        one.reason,
      ],
    );
    expect(results).to.deep.equal([
      [3, false, 'state must be "open", but is "closed"'],
      [1, true, null],
    ]);
    const { body: ofChannel } = await test({ emitter_id: flow, event_name: "orders", filter: {} });
    expect(ofChannel.data).to.include({ tested: 1, matched: 1 });
  });

  it("names what is wrong with a filter", async () => {
    const { status, body } = await test({ emitter_id: flow, filter: { n: { $gtt: 1 } } });
    expect([status, body.errors[0].path]).to.deep.equal([400, "filter.n.$gtt"]);
    const listener = (await api.expect(201, "POST", "/workflows", { body: { name: "Listener" } })).id;
    const ids = `emitter_id=${flow}&listener_id=${listener}`;
    const { id } = await api.expect(200, "POST", `/subscriptions?${ids}`);
    const forgotten = { filter: { n: { gte: 1 } } };
    for (const [method, path, given] of [
      ["POST", "/subscriptions/filter_test", { ...forgotten, emitter_id: flow }],
      ["POST", `/subscriptions?${ids}`, forgotten],
      ["PUT", `/subscriptions/${id}`, forgotten],
    ] as const) {
      const rejected = await api.request(method, path, { body: given });
      expect([rejected.status, rejected.body.errors[0].path], path).to.deep.equal([400, "filter.n"]);
      expect(rejected.body.errors[0].message).to.include("did you mean $gte");
    }
    for (const wrong of [{ emitter_id: flow }, { filter: {} }, { emitter_id: flow, filter: [] }]) {
      expect((await test(wrong)).status, JSON.stringify(wrong)).to.equal(400);
    }
  });

  it("is 404 for another account's emitter", async () => {
    const stranger = await system.user();
    const body = { emitter_id: flow, filter: {} };
    expect((await stranger.request("POST", "/subscriptions/filter_test", { body })).status).to.equal(404);
  });
});
