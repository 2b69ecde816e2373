import { expect } from "chai";
import { LIMITS } from "../../src/limits/catalogue.ts";
import type { Api } from "../support/api.ts";
import { append } from "../support/event-log.ts";
import { type System, startSystem } from "../support/system.ts";

describe("the test of a function", () => {
  let system: System;
  let api: Api & { userId: string };
  let flow: string;
  before(async () => {
    system = await startSystem({}, { workers: false });
    api = await system.user();
    flow = (await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } })).id;
    for (let n = 0; n < 12; n += 1) {
      await append(system.worker.eventLog, flow, "emits", {
        event: { raw_event: { n } },
        metadata: { emit_id: `emit-${n}`, name: n === 11 ? "orders" : "", emitter_id: flow },
      });
    }
  });
  after(() => system.stop());

  const test = (body: object, as: Api = api) => as.request("POST", "/subscriptions/function_test", { body });

  it("shows what it makes of the last events of a channel, and what it drops, logs and fails on", async () => {
    const code = `export default (event, meta) => {
      if (event.n === 10) return null;
      if (event.n === 9) throw new Error("nine");
      console.warn("seen", meta.event_name);
      return { n: event.n };
    };`;
    const { results } = (await test({ emitter_id: flow, function: code })).body.data;
    expect(results).to.have.length(LIMITS.functionTestEvents.value);
    expect(results[0]).to.deep.include({ event: { n: 10 }, dropped: true, result: null, error: null });
    expect(results[1].error).to.deep.equal({ message: "nine", line: 3, column: 32 });
    expect(results[2]).to.deep.include({ dropped: false, result: { n: 8 }, error: null });
    expect(results[2].logs[0]).to.include({ level: "warn", message: "seen " });
    expect(results[2].event_id).to.match(/^\d+-\d+$/);
    const ofChannel = (await test({ emitter_id: flow, event_name: "orders", function: code })).body.data;
    expect(ofChannel.results.map(({ result }: { result: unknown }) => result)).to.deep.equal([{ n: 11 }]);
  });

  it("takes events of the request, up to ten", async () => {
    const code = "export default event => event * 2;";
    const events = Array.from({ length: LIMITS.functionTestEvents.value }, (_, n) => n);
    const { results } = (await test({ emitter_id: flow, function: code, events })).body.data;
    expect(results.map(({ result }: { result: number }) => result)).to.deep.equal(events.map(n => n * 2));
    expect(results[0].event_id).to.equal(null);
    expect((await test({ emitter_id: flow, function: code, events: [...events, 1] })).status).to.equal(400);
  });

  it("counts as a run, and stores nothing", async () => {
    const used = async () => (await api.expect(200, "GET", "/users/me")).daily_invocations_used;
    const before = await used();
    await test({ emitter_id: flow, function: "export default event => event;", events: [1] });
    expect(await used()).to.equal(before + 1);
    expect(await system.worker.mongo.collection("functions").countDocuments()).to.equal(0);
  });

  it("says what is wrong with code that can't be saved", async () => {
    const { status, body } = await test({ emitter_id: flow, function: "export default (" });
    expect([status, body.errors[0].path]).to.deep.equal([400, "function"]);
    expect(body.errors[0].message).to.match(/^line 1, column \d+: /);
  });

  it("is 404 for another account's emitter", async () => {
    const body = { emitter_id: flow, function: "export default event => event;" };
    expect((await test(body, await system.user())).status).to.equal(404);
  });
});
