import { createHmac } from "node:crypto";
import { expect } from "chai";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const ECHO = `
export default {
  name: "Echo", version: "0.0.1", key: "echo",
  props: { http: "$.interface.http" },
  run(event) { this.$emit(event.body, { id: event.body.id, summary: "echoed" }); },
};`;

/** The signature that a Standard Webhooks receiver computes from a request. */
function signatureOf(key: string, id: string, timestamp: string, body: string): string {
  const secret = Buffer.from(key.replace("whsec_", ""), "base64");
  return `v1,${createHmac("sha256", secret).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
}

describe("an event from its source to its webhook", () => {
  let system: System;
  let receiver: Receiver;

  before(async () => {
    system = await startSystem();
  });
  beforeEach(async () => {
    receiver = await startReceiver();
  });
  afterEach(() => receiver.close());
  after(() => system.stop());

  it("is emitted for a request to the endpoint, and delivered with a valid signature", async () => {
    const api = await system.user();
    const component = await api.expect(201, "POST", "/components", { body: { component_code: ECHO } });
    const source = await api.createSource({ component_id: component.id });
    const webhook = await api.createWebhook(receiver.url);
    await api.subscribe(source.id, webhook.id);

    const endpoint = source.configured_props.http?.endpoint_url ?? "";
    const response = await fetch(endpoint, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ id: 1, hello: "world" }),
    });
    expect(response.status).to.equal(200);

    const delivery = await until(() => receiver.requests[0], { what: "the delivery" });
    expect(JSON.parse(delivery.raw)).to.deep.equal({ id: 1, hello: "world" });
    const { "webhook-id": id, "webhook-timestamp": at, "webhook-signature": signature } = delivery.headers;
    expect(signature).to.equal(signatureOf(webhook.signing_key, String(id), String(at), delivery.raw));
    const [summary] = await api.summaries(source.id);
    expect(summary?.event).to.deep.equal({ raw_event: { id: 1, hello: "world" } });
    expect(summary?.metadata).to.include({ emitter_id: source.id, name: "" });
    expect(delivery.headers["x-headwater-event-id"]).to.equal(summary?.id);
  });

  it("is sent again by the schedule after responses of 500, under one webhook-id", async () => {
    receiver.script(500, 500, 200);
    const api = await system.user();
    const source = await api.createSource({ component_code: ECHO });
    await api.subscribe(source.id, (await api.createWebhook(receiver.url)).id);

    await fetch(source.configured_props.http?.endpoint_url ?? "", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"id":2}',
    });

    await until(() => receiver.requests.length === 3, { what: "three attempts" });
    expect(new Set(receiver.requests.map(request => request.headers["webhook-id"])).size).to.equal(1);
    expect(receiver.requests.map(request => request.headers["x-headwater-attempt"])).to.deep.equal([
      "1",
      "2",
      "3",
    ]);
  });

  it("is a $errors event, in summaries and for subscribers, if the component throws", async () => {
    const api = await system.user();
    const source = await api.createSource({
      component_code: `export default { name: "Bad", version: "1.0.0", props: { http: "$.interface.http" },
        run() { throw new TypeError("broken on purpose"); } };`,
    });
    await api.subscribe(source.id, (await api.createWebhook(receiver.url)).id, "$errors");

    await fetch(source.configured_props.http?.endpoint_url ?? "", { method: "POST", body: "x" });

    const delivery = await until(() => receiver.requests[0], { what: "the error's delivery" });
    const event = JSON.parse(delivery.raw);
    expect(event.error).to.include({ code: "TypeError", message: "broken on purpose" });
    expect(event.original_event).to.include({ method: "POST", bodyRaw: "x" });
    expect(event.original_context).to.include({ source_type: "http" });
    const [summary] = await api.summaries(source.id, { stream: "%24errors" });
    expect(summary?.event.error.code).to.equal("TypeError");
    expect(await api.summaries(source.id)).to.deep.equal([]);
  });

  it("is emitted by a timer source on its schedule", async () => {
    const api = await system.user();
    const source = await api.createSource({
      component_code: `export default { name: "Tick", version: "1.0.0",
        props: { timer: { type: "$.interface.timer", default: { intervalSeconds: 1 } } },
        run(event) { this.$emit({ at: event.timestamp, every: event.interval_seconds }); } };`,
    });
    const summaries = await until(
      async () => {
        const found = await api.summaries(source.id);
        return found.length >= 3 && found;
      },
      { what: "three ticks" },
    );
    const times = summaries.map(summary => summary.event.raw_event.at);
    expect(new Set(times).size).to.equal(times.length);
    expect(summaries[0]?.event.raw_event.every).to.equal(1);
    await api.expect(204, "DELETE", `/sources/${source.id}`);
  });

  it("is delivered and listed if a workflow emits it through the queue", async () => {
    const api = await system.user();
    const { createWorkflow } = await import("../../src/workflows/workflows.ts");
    const { enqueue } = await import("../../src/queues/define-queue.ts");
    const { emissions } = await import("../../src/queues/emissions.ts");
    const workflow = await createWorkflow(system.worker, { ownerId: api.userId, name: "Flow" });
    await api.subscribe(workflow.id, (await api.createWebhook(receiver.url)).id);

    await enqueue(system.worker.queues, emissions.jobs.emissions, {
      emitter_id: workflow.id,
      emit_id: "mine-1",
      event: { n: 1 },
    });
    await enqueue(system.worker.queues, emissions.jobs.emissions, {
      emitter_id: workflow.id,
      emit_id: "mine-1",
      event: { n: 1 },
    });

    await until(() => receiver.requests[0], { what: "the delivery" });
    const { body } = await api.request("GET", `/workflows/${workflow.id}/event_summaries`);
    expect(body.page_info.total_count).to.equal(1);
    expect(body.data[0].metadata.emit_id).to.equal("mine-1");
  });

  it("runs a source that listens to its emitter", async () => {
    const api = await system.user();
    const emitter = await api.createSource({ component_code: ECHO });
    const listener = await api.createSource({
      component_code: `export default { name: "Relay", version: "1.0.0",
        run(event) { this.$emit({ relayed: event }, { name: "again" }); } };`,
    });
    await api.subscribe(emitter.id, listener.id);
    await api.subscribe(listener.id, (await api.createWebhook(receiver.url)).id, "again");

    await fetch(emitter.configured_props.http?.endpoint_url ?? "", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"id":7}',
    });

    const delivery = await until(() => receiver.requests[0], { what: "the relayed event" });
    expect(JSON.parse(delivery.raw)).to.deep.equal({ relayed: { id: 7 } });
    expect(delivery.headers["x-headwater-event-name"]).to.equal("again");
  });
});
