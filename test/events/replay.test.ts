import { expect } from "chai";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { workflowEvents } from "../../src/queues/workflow-events.ts";
import type { Api } from "../support/api.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const LISTENER = `export default { name: "Listener", version: "0.0.1", run(event) { this.$emit({ heard: event }); } };`;

describe("the replay of an event", () => {
  let system: System;
  let receiver: Receiver;
  let api: Api & { userId: string };
  let flow: string;
  before(async () => {
    system = await startSystem();
    receiver = await startReceiver();
  });
  after(async () => {
    await receiver.close();
    await system.stop();
  });
  beforeEach(async () => {
    api = await system.user();
    flow = (await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } })).id;
    receiver.requests.splice(0);
  });

  const publish = async (event: unknown) => {
    const { emit_ids } = await api.expect(202, "POST", `/workflows/${flow}/events`, { body: { event } });
    const trace = { query: { emitter_id: flow } };
    return await until(async () => {
      const { status, body } = await api.request("GET", `/events/${emit_ids[0]}`, trace);
      return status === 200 && body.data.event_id && (emit_ids[0] as string);
    });
  };
  const replay = (id: string, body: object = {}) =>
    api.expect(202, "POST", `/events/${id}/replay`, { query: { emitter_id: flow }, body });
  const received = (count: number) => until(() => receiver.requests.length === count && receiver.requests);

  it("reaches a webhook again under the same id, and one that subscribed since for the first time", async () => {
    const first = await api.createWebhook(receiver.url);
    const subscription = await api.subscribe(flow, first.id);
    const id = await publish({ n: 1 });
    const [before] = await received(1);
    const later = await api.createWebhook(receiver.url);
    await api.subscribe(flow, later.id);
    const { deliveries, skipped } = await replay(id);
    expect(skipped).to.deep.equal([]);
    expect(deliveries.map((one: { webhook_id: string }) => one.webhook_id)).to.have.members([
      first.id,
      later.id,
    ]);
    const requests = await received(3);
    const sentAs = requests.map(({ headers }) => headers["webhook-id"]);
    expect(sentAs.filter(sent => sent === before?.headers["webhook-id"])).to.have.length(2);
    expect(new Set(requests.map(({ raw }) => raw))).to.deep.equal(new Set(['{"n":1}']));
    const one = await replay(id, { listener_id: first.id });
    expect(one.deliveries).to.deep.equal([{ id: before?.headers["webhook-id"], webhook_id: first.id }]);
    await received(4);
    await api.expect(204, "DELETE", `/subscriptions/${subscription.id}`);
    const { skipped: gone } = await replay(id, { listener_id: first.id });
    expect(gone).to.deep.equal([
      { listener_id: first.id, reason: "it has no subscription to this channel of the emitter" },
    ]);
  });

  it("reaches sources and workflow engines that listen, and no listener whose filter does not match", async () => {
    const source = await api.createSource({ component_code: LISTENER });
    const engine = (await api.expect(201, "POST", "/workflows", { body: { name: "Engine" } })).id;
    for (const listener of [source.id, engine]) await api.subscribe(flow, listener);
    const picky = await api.createWebhook(receiver.url);
    const query = { emitter_id: flow, listener_id: picky.id };
    await api.expect(200, "POST", "/subscriptions", { query, body: { filter: { n: 2 } } });
    const id = await publish({ n: 1 });
    await until(async () => (await api.summaries(source.id)).length === 1);
    expect((await replay(id, { listener_id: engine })).skipped[0].reason).to.include("still waits");
    const [job] = await openedQueue(system.worker.queues, workflowEvents).getJobs(["waiting"]);
    await job?.remove();
    const { runs, workflows, skipped } = await replay(id);
    expect(workflows).to.deep.equal([{ workflow_id: engine }]);
    expect(skipped).to.deep.equal([{ listener_id: picky.id, reason: "its filter does not match the event" }]);
    const run = await until(async () => {
      const rows = await api.expect(200, "GET", `/sources/${source.id}/runs`);
      return rows.find((row: { id: string }) => row.id === runs[0].id);
    });
    expect(run).to.include({ outcome: "ok", trigger: "event" });
    // A run is recorded before its events are published.
    await until(async () => (await api.summaries(source.id)).length === 2, { what: "the event of its run" });
  });

  it("is 404 for another account's event or listener, and for an unknown event", async () => {
    const id = await publish(1);
    const stranger = await system.user();
    const foreign = await stranger.createWebhook(receiver.url);
    const query = { emitter_id: flow };
    const status = async (client: Api, path: string, body: object = {}) =>
      (await client.request("POST", path, { query, body })).status;
    expect(await status(stranger, `/events/${id}/replay`)).to.equal(404);
    expect(await status(api, `/events/${id}/replay`, { listener_id: foreign.id })).to.equal(404);
    expect(await status(api, "/events/1700000000000-0/replay")).to.equal(404);
    expect(await status(api, `/events/${id}/replay`, { listener_id: 1 })).to.equal(400);
  });
});
