import { expect } from "chai";
import type { QueuesView } from "../../src/attention/queues-schema.ts";
import { newId } from "../../src/lib/ids.ts";
import { Deliveries } from "../../src/models/delivery.ts";
import type { Api } from "../support/api.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const SLOW = `export default { name: "Slow", version: "0.0.1", props: { http: "$.interface.http" },
  async run() { await new Promise(resolve => setTimeout(resolve, 2000)); } };`;

describe("what waits in the queues of an account", () => {
  let system: System;
  let receiver: Receiver;
  let api: Api & { userId: string };
  before(async () => {
    system = await startSystem({ DELIVERY_RETRY_SCHEDULE: "1h" });
    receiver = await startReceiver(503);
  });
  after(async () => {
    await receiver?.close();
    await system?.stop();
  });
  beforeEach(async () => {
    api = await system.user();
  });

  const queues = (of = api): Promise<QueuesView> => of.expect(200, "GET", "/queues");

  it("is nothing at first", async () => {
    const { totals, deliveries, runs } = await queues();
    expect(totals).to.deep.equal({
      ...{ due: 0, retries: 0, runs: 0, queued_bytes: 0, emission_bytes: 0, workflow_events: 0 },
    });
    expect([deliveries, runs]).to.deep.equal([[], []]);
  });

  it("are deliveries that wait for a retry and those that are due, by listener, for the account alone", async () => {
    const { id: flow } = await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } });
    const webhook = (await api.createWebhook(receiver.url, { name: "orders" })).id;
    await api.subscribe(flow, webhook);
    const before = Date.now();
    const events = [{ event: 1 }, { event: 2 }];
    await api.expect(202, "POST", `/workflows/${flow}/events`, { body: { events } });
    const { deliveries } = await until(async () => {
      const found = await queues();
      return found.totals.retries === 2 && found;
    });
    expect(deliveries).to.have.length(1);
    expect(deliveries[0]).to.include({ listener_id: webhook, listener_name: "orders", due: 0, retries: 2 });
    expect(deliveries[0]?.oldest_due_ms).to.equal(null);
    expect(deliveries[0]?.oldest_retry_ms).to.be.within(before - 1000, Date.now());
    // Due, with a permit that it does not get.
    const [row] = await Deliveries(system.worker.mongo).find({ webhook_id: webhook }).lean();
    const dueMs = Date.now() - 90_000;
    const waiting = { ...row, _id: newId("dlv"), next_attempt_at_ms: dueMs, sweep_at_ms: dueMs + 3_600_000 };
    const { issue_id: _, ...parked } = waiting;
    await Deliveries(system.worker.mongo).insertOne(parked as never);
    const now = await queues();
    expect(now.totals).to.include({ due: 1, retries: 2 });
    expect(now.deliveries[0]).to.include({ due: 1, oldest_due_ms: dueMs });
    expect((await queues(await system.user())).totals).to.include({ due: 0, retries: 0 });
  });

  it("are runs by source, since the first was triggered", async () => {
    const source = await api.createSource({ component_code: SLOW, name: "slow" });
    const before = Date.now();
    const abort = new AbortController();
    const requests = [1, 2].map(() =>
      fetch(source.configured_props.http?.endpoint_url ?? "", {
        method: "POST",
        signal: abort.signal,
      }).catch(() => undefined),
    );
    const { totals, runs } = await until(async () => {
      const found = await queues();
      return found.totals.runs === 2 && found;
    });
    expect(totals.runs).to.equal(2);
    expect(runs[0]).to.include({ source_id: source.id, source_name: "slow", waiting: 2 });
    expect(runs[0]?.oldest_ms).to.be.within(before - 1000, Date.now());
    abort.abort();
    await Promise.all(requests);
  });
});
