import { expect } from "chai";
import { type ApiError, Headwater, InvalidError, NotFoundError } from "../../clients/typescript/src/index.ts";
import { verify } from "../../clients/typescript/src/webhooks/index.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const code = `export default { name: "Hello", version: "0.0.1", props: { http: "$.interface.http" },
  run(event) { this.$emit(event.body); } }`;

describe("the client with a server", () => {
  let system: System;
  let receiver: Receiver;
  let client: Headwater;
  let userId: string;
  before(async () => {
    system = await startSystem();
    receiver = await startReceiver();
    const user = await system.user({ plan: "paid" });
    userId = user.userId;
    client = new Headwater({ url: system.baseUrl, apiKey: user.apiKey });
  });
  after(async () => {
    await receiver.close();
    await system.stop();
  });

  it("makes a source, a webhook and a subscription, and finds the delivery of an event", async () => {
    const source = await client.sources.create({ component_code: code, name: "flow" });
    const webhook = await client.webhooks.create({ url: receiver.url, name: "hook" });
    const subscription = await client.subscriptions.create({
      emitter_id: source.id,
      listener_id: webhook.id,
    });
    await fetch(source.configured_props.http?.endpoint_url ?? "", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"note":"wörld"}',
    });
    const request = await until(() => receiver.requests[0]);
    const verified = await verify(request.raw, request.headers, webhook.signing_key);
    expect(verified.payload).to.deep.equal({ note: "wörld" });
    const found = await until(async () => {
      for await (const one of client.webhooks.deliveries(webhook.id, { state: "delivered" })) return one;
      return undefined;
    });
    expect(found).to.include({ id: verified.id, emitter_id: source.id, subscription_id: subscription.id });
    expect((await client.deliveries.get(found.id)).attempts).to.have.lengthOf(1);
    expect((await client.trace(verified.eventId, source.id)).state).to.equal("emitted");
    const { data } = await client.sources.events(source.id, { expand: "event" });
    expect(data.map(({ event }) => event.raw_event)).to.deep.equal([{ note: "wörld" }]);
    expect((await client.sources.get("flow")).id).to.equal(source.id);
    expect((await client.sources.update("flow", { active: false })).active).to.equal(false);
    expect(await client.subscriptions.delete(subscription.id)).to.equal(undefined);
  });

  it("goes over all pages of a list, newest first", async () => {
    const made: string[] = [];
    for (let n = 0; n < 5; n += 1) made.unshift((await client.workflows.create({ name: `Flow ${n}` })).id);
    const pages: string[][] = [];
    for await (const { data } of client.workflows.list({ limit: 2 }).pages())
      pages.push(data.map(({ id }) => id));
    expect(pages).to.deep.equal([made.slice(0, 2), made.slice(2, 4), made.slice(4), []]);
    const ids: string[] = [];
    for await (const { id } of client.workflows.list()) ids.push(id);
    expect(ids).to.deep.equal(made);
  });

  it("publishes a batch that a watch sees, and the same event again only once", async () => {
    const { id } = await client.workflows.create({ name: "Orders" });
    const seen: unknown[] = [];
    for await (const message of client.watch({ emitters: [id] })) {
      if (message.type === "ready") {
        await client.publish(id, [{ event: { n: 1 }, id: "one" }, { event: { n: 2 } }]);
        await client.publish(id, { event: { n: 1 }, id: "one" });
        await client.publish(id, { event: { n: 3 }, name: "last" });
      }
      if (message.type === "emit")
        seen.push([message.summary.metadata.name, message.summary.event.raw_event]);
      if (message.type === "emit" && message.summary.metadata.name === "last") break;
    }
    expect(seen).to.deep.equal([
      ["", { n: 1 }],
      ["", { n: 2 }],
      ["last", { n: 3 }],
    ]);
  });

  it("gets the first response again for the same idempotency key", async () => {
    const create = () => client.workflows.create({ name: "Once" }, { idempotencyKey: "once" });
    expect((await create()).id).to.equal((await create()).id);
  });

  it("fails with the fields that are wrong, and the request's id", async () => {
    const wrong = { component_code: code, nmae: "x" } as { component_code: string };
    const invalid: ApiError = await client.sources.create(wrong).catch(error => error);
    expect(invalid).to.be.an.instanceOf(InvalidError);
    expect(invalid.errors[0]).to.include({ in: "body", path: "nmae" });
    expect(invalid.requestId).to.match(/\S/);
    const absent = await client.webhooks.get("wh_0000000000000000").catch(error => error);
    expect(absent).to.be.an.instanceOf(NotFoundError);
  });

  it("works in an organization", async () => {
    const orgId = await system.organization(userId);
    const { api_key: apiKey } = await client.request("post", "/api_keys", { body: { name: "second" } });
    const inOrganization = new Headwater({ url: system.baseUrl, apiKey, orgId });
    const { id } = await inOrganization.webhooks.create({ url: receiver.url });
    const { data } = await inOrganization.webhooks.list();
    expect(data.map(webhook => webhook.id)).to.deep.equal([id]);
    const own: string[] = [];
    for await (const webhook of client.webhooks.list()) own.push(webhook.id);
    expect(own).not.to.include(id);
  });
});
