import { expect } from "chai";
import { verify } from "../../clients/typescript/src/webhooks/index.ts";
import type { DeliveryDetail } from "../../src/deliveries/schema.ts";
import type { Api } from "../support/api.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const CODE = `export default { name: "Quiet", version: "0.0.1", run() {} };`;

describe("what a delivery sends", () => {
  let system: System;
  let receiver: Receiver;
  let api: Api;
  before(async () => {
    system = await startSystem({ DELIVERY_RETRY_SCHEDULE: "50ms" });
  });
  beforeEach(async () => {
    receiver = await startReceiver(503, 200);
    api = await system.user();
  });
  afterEach(() => receiver.close());
  after(() => system?.stop());

  const deliveredRow = async (webhookId: string) => {
    const query = { state: "delivered", webhook_id: webhookId };
    const [row] = await until(async () => {
      const rows = await api.expect(200, "GET", "/deliveries", { query });
      return rows.length > 0 && rows;
    });
    return row;
  };
  const readDelivery = (id: string): Promise<DeliveryDetail> =>
    api.expect(200, "GET", `/deliveries/${id}`, { query: { expand: "event" } });

  it("is shown as it was received, without signatures and values of custom headers", async () => {
    const source = await api.createSource({ component_code: CODE });
    const webhook = await api.expect(201, "POST", "/webhooks", {
      query: { url: receiver.url },
      body: { headers: { authorization: "Bearer s3cret-value" } },
    });
    await api.subscribe(source.id, webhook.id, "größe");
    const event = { note: "long ".repeat(500) };
    await api.expect(202, "POST", `/sources/${source.id}/events`, { body: { event, name: "größe" } });
    const row = await deliveredRow(webhook.id);
    const detail = await readDelivery(row.id);
    expect(detail.event).to.deep.equal(event);
    expect(detail.request).to.include({ method: "POST", url: receiver.url, cloud_event: null });
    expect(detail.attempts).to.have.length(2);
    for (const [i, attempt] of detail.attempts.entries()) {
      const { headers = {} } = receiver.requests[i] ?? {};
      expect(headers).to.include({
        ...detail.request?.headers,
        "webhook-timestamp": String(Math.floor(attempt.at_ms / 1000)),
        "x-headwater-attempt": String(attempt.number),
      });
      expect(headers).to.include.all.keys(detail.request?.secret_header_names ?? []);
      const shown = JSON.stringify(detail);
      for (const name of detail.request?.secret_header_names ?? []) {
        expect(shown, name).not.to.include(headers[name]);
      }
    }
    expect(detail.request?.secret_header_names).to.deep.equal([
      "webhook-signature",
      "x-pd-signature",
      "authorization",
    ]);
    expect(await api.expect(200, "GET", `/deliveries/${row.id}`)).not.to.have.property("event");
    await api.expect(204, "DELETE", `/webhooks/${webhook.id}`);
    expect((await api.expect(200, "GET", `/deliveries/${row.id}`)).request).to.equal(null);
  });

  it("is a CloudEvent where the webhook has that format: the same bytes in each attempt, signed as they are", async () => {
    const flow = await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } });
    const webhook = await api.expect(201, "POST", "/webhooks", {
      body: { url: receiver.url, format: "cloudevents" },
    });
    expect(webhook.format).to.equal("cloudevents");
    await api.subscribe(flow.id, webhook.id, "order.created");
    const event = { order: 42, amount: 1e21, note: "größe" };
    const body = { event, name: "order.created" };
    await api.expect(202, "POST", `/workflows/${flow.id}/events`, { body });
    const { id } = await deliveredRow(webhook.id);
    await api.expect(202, "POST", `/deliveries/${id}/retry`);
    await until(() => receiver.requests.length === 3);
    const detail = await readDelivery(id);
    const [first] = receiver.requests;
    for (const { raw, headers } of receiver.requests) {
      expect(raw).to.equal(first?.raw);
      expect(headers).to.include(detail.request?.headers);
      const verified = await verify(raw, headers as Record<string, string>, webhook.signing_key);
      expect(verified.payload).to.deep.equal({
        ...detail.request?.cloud_event,
        datacontenttype: "application/json",
        data: event,
      });
    }
    expect(detail.request?.cloud_event).to.include({
      id: detail.event_id,
      source: `urn:headwater:${flow.id}`,
      type: "order.created",
    });
    expect(first?.headers["content-type"]).to.equal("application/cloudevents+json; charset=utf-8");
    expect((await api.expect(200, "POST", `/webhooks/${webhook.id}/test`)).status).to.equal(200);
    expect(JSON.parse(receiver.requests.at(-1)?.raw ?? "")).to.include({ type: "$test" });
  });

  it("follows a change of the format: a retry has the attributes in headers, and then none", async () => {
    const flow = await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } });
    const webhook = await api.createWebhook(receiver.url);
    await api.subscribe(flow.id, webhook.id);
    await api.expect(202, "POST", `/workflows/${flow.id}/events`, { body: { event: { n: 1 } } });
    const { id, event_id } = await deliveredRow(webhook.id);
    for (const [format, type] of [
      ["cloudevents-binary", "headwater.event"],
      ["json", undefined],
    ] as const) {
      const sent = receiver.requests.length;
      await api.expect(200, "PUT", `/webhooks/${webhook.id}`, { body: { format } });
      await api.expect(202, "POST", `/deliveries/${id}/retry`);
      const { raw, headers } = await until(() => receiver.requests[sent]);
      expect(raw).to.equal('{"n":1}');
      expect(headers["content-type"]).to.equal("application/json");
      expect(headers["ce-type"]).to.equal(type);
      expect(headers["ce-id"]).to.equal(type && event_id);
    }
    const wrong = await api.request("PUT", `/webhooks/${webhook.id}`, { body: { format: "avro" } });
    expect(wrong.status).to.equal(400);
    expect(wrong.body.errors[0]).to.include({ in: "body", path: "format" });
  });
});
