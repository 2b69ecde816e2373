import { expect } from "chai";
import type { EventTrace } from "../../src/events/trace-schema.ts";
import { newId } from "../../src/lib/ids.ts";
import { StoredEvents } from "../../src/models/event.ts";
import { Subscriptions } from "../../src/models/subscription.ts";
import { enqueue } from "../../src/queues/define-queue.ts";
import { emissions } from "../../src/queues/emissions.ts";
import { createWorkflow } from "../../src/workflows/workflows.ts";
import type { Api, Summary } from "../support/api.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const EMITTER = `export default { name: "Issues", version: "0.0.1", dedupe: "unique",
  props: { http: "$.interface.http" },
  run(event) { this.$emit(event.body, { id: event.body.id }); } };`;
const LISTENER = `export default { name: "Listener", version: "0.0.1",
  run(event) { if (event.fail) throw new TypeError("no"); } };`;

describe("tracing an event", () => {
  let system: System;
  let receiver: Receiver;
  let api: Api & { userId: string };
  before(async () => {
    system = await startSystem({ DELIVERY_RETRY_SCHEDULE: "1h" });
    api = await system.user();
  });
  beforeEach(async () => {
    receiver = await startReceiver(200);
  });
  afterEach(() => receiver.close());
  after(() => system.stop());

  const webhook = async (url = receiver.url) => (await api.createWebhook(url)).id;
  const trace = (id: string, emitterId?: string): Promise<EventTrace> =>
    api.expect(200, "GET", `/events/${id}`, { query: emitterId ? { emitter_id: emitterId } : {} });

  /** Creates a source; `send` sends it a body and returns the event's summary. */
  async function source() {
    const created = await api.createSource({ component_code: EMITTER });
    const send = async (body: Record<string, unknown>): Promise<Summary> => {
      const url = created.configured_props.http?.endpoint_url ?? "";
      const headers = { "content-type": "application/json" };
      await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
      return await until(async () => {
        const all: Summary[] = await api.expect(200, "GET", `/sources/${created.id}/event_summaries`);
        return all.find(({ event }) => event.raw_event.id === body.id);
      });
    };
    return { id: created.id, send };
  }
  const traceWhen = (
    id: string,
    emitterId: string,
    isComplete: (found: EventTrace) => boolean,
  ): Promise<EventTrace> =>
    until(async () => {
      const found = await trace(id, emitterId);
      return isComplete(found) && found;
    });

  it("shows the run that emitted the event, its summary, and its delivery with every attempt", async () => {
    const { id, send } = await source();
    const webhookId = await webhook();
    const { id: subscriptionId } = await api.subscribe(id, webhookId);
    const summary = await send({ id: "1" });
    const found = await traceWhen(
      summary.id,
      id,
      one => one.deliveries[0]?.state === "delivered" && !one.dispatch,
    );
    expect(found).to.deep.include({ state: "emitted", emitter_id: id, name: "", payload: "stored", summary });
    expect(found.run).to.deep.include({ source_id: id, trigger: "http", outcome: "ok", emitted: 1 });
    expect(found.subscriptions).to.have.length(1);
    expect(found.subscriptions[0]).to.include({ id: subscriptionId, outcome: "matched", reason: null });
    expect(found.deliveries[0]).to.deep.include({
      webhook_id: webhookId,
      attempts_made: 1,
      waiting_for: null,
    });
    expect(found.deliveries[0]?.attempts[0]).to.include({ number: 1, status: 200, error: null });
  });

  it("finds the event by its emit id alone, and by the webhook-id that the receiver saw", async () => {
    const { id, send } = await source();
    await api.subscribe(id, await webhook());
    const summary = await send({ id: "1" });
    await until(() => receiver.requests.length === 1);
    const seen = String(receiver.requests[0]?.headers["webhook-id"]);
    await traceWhen(summary.id, id, one => one.deliveries.length === 1);
    for (const by of [summary.metadata.emit_id, seen]) {
      expect(await trace(by), by).to.include({ event_id: summary.id, emitter_id: id });
    }
  });

  it("shows which subscriptions did not match, and why", async () => {
    const { id, send } = await source();
    const [filtered, other, later] = [await webhook(), await webhook(), await webhook()];
    await api.expect(200, "POST", "/subscriptions", {
      query: { emitter_id: id, listener_id: filtered },
      body: { filter: { state: "open" } },
    });
    await api.subscribe(id, other, "alerts");
    const summary = await send({ id: "1", state: "closed" });
    const { id: laterId } = await api.subscribe("dc_*", later);
    await Subscriptions(system.web.mongo).updateOne({ _id: laterId }, { $inc: { created_at: 10 } });
    const found = await trace(summary.id, id);
    const outcomes = Object.fromEntries(
      found.subscriptions.map(({ listener_id, outcome, reason }) => [listener_id, { outcome, reason }]),
    );
    await api.expect(204, "DELETE", "/subscriptions", {
      query: { emitter_id: "dc_*", listener_id: later, event_name: "" },
    });
    expect(outcomes).to.deep.equal({
      [filtered]: { outcome: "filtered", reason: 'state must be "open", but is "closed"' },
      [other]: {
        outcome: "other-channel",
        reason: "it subscribes to channel alerts, and the event was emitted on the default channel",
      },
      [later]: { outcome: "created-later", reason: "it was created after the event was emitted" },
    });
    expect(found.emitter_dropped).to.deep.equal({ filtered: 1 });
    expect(found).to.include({ payload: "in-summary" });
  });

  it("has the whole event on request, also when its summary is truncated or has left the last 100", async () => {
    const { id, send } = await source();
    await api.subscribe(id, await webhook());
    const event = { id: "1", note: "long ".repeat(500) };
    const { id: eventId } = await send(event);
    const expanded = (of: string): Promise<EventTrace> =>
      api.expect(200, "GET", `/events/${of}`, { query: { emitter_id: id, expand: "event" } });
    expect((await expanded(eventId)).event).to.deep.equal(event);
    expect(await trace(eventId, id)).not.to.have.property("event");
    const events = Array.from({ length: 100 }, (_, n) => ({ event: { n } }));
    await api.expect(202, "POST", `/sources/${id}/events`, { body: { events } });
    const left = await until(async () => {
      const found = await expanded(eventId);
      return found.summary === null && found;
    });
    expect(left).to.deep.include({ payload: "stored", event });
  });

  it("has an event whole from its summary, and none once it is gone", async () => {
    const { id, send } = await source();
    const small = await send({ id: "1" });
    const large = await send({ id: "2", note: "long ".repeat(500) });
    const query = { emitter_id: id, expand: "event" };
    const of = (event: Summary): Promise<EventTrace> =>
      api.expect(200, "GET", `/events/${event.id}`, { query });
    expect(await of(small)).to.deep.include({ payload: "in-summary", event: { id: "1" } });
    expect((await of(large)).event)
      .to.have.property("note")
      .with.length(2500);
    await StoredEvents(system.web.mongo).deleteMany({ emitter_id: id });
    const gone = await of(large);
    expect(gone.payload).to.equal("gone");
    expect(gone).not.to.have.property("event");
  });

  it("shows what a failing delivery waits for, and the drops of its emitter", async () => {
    await receiver.close();
    const { id, send } = await source();
    await api.subscribe(id, await webhook());
    const summary = await send({ id: "1" });
    await send({ id: "1" });
    const found = await traceWhen(
      summary.id,
      id,
      one => one.deliveries[0]?.attempts_made === 1 && one.emitter_dropped.deduped === 1,
    );
    expect(found.deliveries[0]).to.include({ state: "pending", waiting_for: "its next scheduled attempt" });
    expect(found.deliveries[0]?.last_attempt?.error).to.match(/^connect: /);
  });

  it("shows the sources and workflows that received the event", async () => {
    const { id, send } = await source();
    const listener = await api.createSource({ component_code: LISTENER });
    const workflow = (await createWorkflow(system.web, { ownerId: api.userId, name: "flow" })).id;
    await api.subscribe(id, listener.id);
    await api.subscribe(id, workflow);
    const summary = await send({ id: "1", fail: true });
    const found = await traceWhen(summary.id, id, one =>
      one.listeners.some(({ state, listener_id }) => listener_id === listener.id && state === "finished"),
    );
    const byId = new Map(found.listeners.map(one => [one.listener_id, one]));
    expect(byId.get(listener.id)?.run).to.deep.include({
      outcome: "TypeError",
      error: { code: "TypeError", message: "no" },
    });
    expect(byId.get(workflow)).to.include({ state: "queued", run: null });
  });

  it("shows the event of a workflow, with the drops of the workflow", async () => {
    const workflow = (await createWorkflow(system.web, { ownerId: api.userId, name: "flow" })).id;
    const emission = { emitter_id: workflow, emit_id: "order-1", event: { n: 1 } };
    await enqueue(system.web.queues, emissions.jobs.emissions, emission);
    const found = await traceWhen("order-1", workflow, one => one.emitter_dropped["no-listener"] === 1);
    expect(found).to.deep.include({ emitter_id: workflow, run: null, emitter_dropped: { "no-listener": 1 } });
  });

  it("returns 404 to another account, and for an event that never existed", async () => {
    const { id, send } = await source();
    const { id: webhookId } = await api.createWebhook(receiver.url);
    await api.subscribe(id, webhookId);
    const summary = await send({ id: "1" });
    await until(() => receiver.requests.length === 1);
    const stranger = await system.user();
    const seen = String(receiver.requests[0]?.headers["webhook-id"]);
    for (const [by, query] of [
      [summary.id, { emitter_id: id }],
      [summary.metadata.emit_id, {}],
      [summary.metadata.emit_id, { emitter_id: id }],
      [seen, {}],
    ] as const) {
      expect((await stranger.request("GET", `/events/${by}`, { query })).status, by).to.equal(404);
    }
    expect((await api.request("GET", "/events/1-0", { query: { emitter_id: id } })).status).to.equal(404);
    expect(
      (await api.request("GET", `/events/${newId("run")}-7`, { query: { emitter_id: id } })).status,
    ).to.equal(404);
  });

  it("requires the emitter for ids that are unique per emitter only", async () => {
    for (const id of ["1700000000000-0", "order-1"]) {
      const response = await api.request("GET", `/events/${id}`);
      expect(response.status).to.equal(400);
      expect(response.body.errors[0]).to.include({ in: "query", path: "emitter_id" });
    }
  });
});
