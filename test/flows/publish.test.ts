import { createHmac } from "node:crypto";
import { expect } from "chai";
import type { Api } from "../support/api.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

/** docs/rest-api.md#publish */
describe("a published event", () => {
  let system: System;
  let receiver: Receiver;
  let api: Api;
  let workflow: string;
  let signingKey: string;

  before(async () => {
    system = await startSystem();
  });
  beforeEach(async () => {
    receiver = await startReceiver();
    api = await system.user();
    workflow = (await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } })).id;
    const webhook = await api.createWebhook(receiver.url);
    signingKey = webhook.signing_key;
    await api.subscribe(workflow, webhook.id);
  });
  afterEach(() => receiver.close());
  after(() => system.stop());

  const publish = (body: unknown) => api.request("POST", `/workflows/${workflow}/events`, { body });
  /** Publishes a last event, and waits until it and all others were delivered. */
  const whenDelivered = async () => {
    await publish({ event: "last" });
    await until(() => receiver.requests.some(({ raw }) => raw === '"last"'), { what: "the last event" });
    return receiver.requests.map(({ raw }) => raw).filter(raw => raw !== '"last"');
  };

  it("is delivered with a valid signature, and listed with what its publisher said", async () => {
    const response = await publish({ event: { hello: "world" }, id: "order-1", ts: 1_700_000_000_000 });
    expect(response.body).to.deep.equal({ data: { emit_ids: ["order-1"] } });
    const { raw, headers } = await until(() => receiver.requests[0], { what: "the delivery" });
    expect(JSON.parse(raw)).to.deep.equal({ hello: "world" });
    const text = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${raw}`;
    const secret = Buffer.from(signingKey.replace("whsec_", ""), "base64");
    const signature = createHmac("sha256", secret).update(text).digest("base64");
    expect(headers["webhook-signature"]).to.equal(`v1,${signature}`);
    const [row] = await api.expect(200, "GET", `/workflows/${workflow}/event_summaries`);
    expect(row.metadata).to.deep.equal({
      ...{ emit_id: "order-1", name: "", emitter_id: workflow, ts: 1_700_000_000_000 },
    });
    const trace = await api.expect(200, "GET", "/events/order-1", { query: { emitter_id: workflow } });
    expect(trace).to.include({ emit_id: "order-1", event_id: row.id });
  });

  it("is one event however often its id is published, one after the other and at once, and within a batch", async () => {
    const first = await publish({ event: 1, id: "order-1" });
    const again = await Promise.all(Array.from({ length: 10 }, () => publish({ event: 1, id: "order-1" })));
    for (const response of again) expect([response.status, response.body]).to.deep.equal([202, first.body]);
    await publish({ events: Array(5).fill({ event: 1, id: "order-1" }) });
    expect(await whenDelivered()).to.deep.equal(["1"]);
    expect(await api.expect(200, "GET", `/workflows/${workflow}/event_summaries`)).to.have.length(2);
  });

  it("keeps its place in a batch of 1,000 @long", async () => {
    const events = Array.from({ length: 1000 }, (_, n) => ({ event: n }));
    expect((await publish({ events })).status).to.equal(202);
    await until(async () => {
      const summaries = await api.expect(200, "GET", `/workflows/${workflow}/event_summaries`);
      const shown = summaries.map(({ event }: { event: { raw_event: number } }) => event.raw_event);
      expect(shown).to.deep.equal(Array.from({ length: 100 }, (_, i) => 999 - i));
      return true;
    });
    await until(() => receiver.requests.length > 0);
  });
});
