import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import { AutoSubscriptions, Subscriptions } from "../../src/models/subscription.ts";
import { Workflows } from "../../src/models/workflow.ts";
import { WHOLE_LIST } from "../../src/store/page.ts";
import { autoSubscribe } from "../../src/subscriptions/auto.ts";
import { listSubscriptions } from "../../src/subscriptions/list.ts";
import { type Subscriber, subscribe, unsubscribe } from "../../src/subscriptions/subscribe.ts";
import { createWebhook } from "../../src/webhooks/webhooks.ts";
import { rejection } from "../components/rejection.ts";
import { storeSource } from "../sources/source-row.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

describe("subscribing", () => {
  let platform: TestPlatform;
  let me: Subscriber;
  let source: string;
  let webhook: string;
  before(async () => {
    platform = await openTestPlatform();
  });
  beforeEach(async () => {
    me = subscriber(newId("u"));
    source = (await storeSource(platform, { owner_id: me.owner }))._id;
    webhook = await webhookOf(me.owner);
  });
  after(() => platform.destroy());

  const subscriber = (id: string, ...orgs: string[]): Subscriber => ({
    owner: id,
    owners: [id, ...orgs],
    userId: id,
  });
  const listed = async () => (await listSubscriptions(platform, me, {}, WHOLE_LIST)).rows;
  const webhookOf = async (ownerId: string) =>
    (await createWebhook(platform, { ownerId, userId: ownerId, url: "http://127.0.0.1:1/" })).id;
  const keyOf = (emitterId: string, listenerId: string, eventName = "") => ({
    emitterId,
    listenerId,
    eventName,
  });

  it("creates one subscription for concurrent equal requests, and returns it to each of them", async () => {
    const made = await Promise.all(
      Array.from({ length: 10 }, () => subscribe(platform, me, keyOf(source, webhook))),
    );
    expect(new Set(made.map(({ _id }) => _id)).size).to.equal(1);
    expect(await Subscriptions(platform.mongo).countDocuments({ emitter_id: source })).to.equal(1);
    const other = await subscribe(platform, me, keyOf(source, webhook, "$errors"));
    expect((await listed()).map(({ _id }) => _id)).to.have.members([made[0]?._id, other._id]);
  });

  it("again keeps the existing filter, or replaces it with a new one", async () => {
    const first = await subscribe(platform, me, { ...keyOf(source, webhook), filter: { a: 1 } });
    expect(first.filter).to.equal('{"a":1}');
    expect((await subscribe(platform, me, keyOf(source, webhook))).filter).to.equal('{"a":1}');
    expect((await subscribe(platform, me, { ...keyOf(source, webhook), filter: { b: 2 } })).filter).to.equal(
      '{"b":2}',
    );
    const bad = await rejection(
      subscribe(platform, me, { ...keyOf(source, webhook), filter: { a: { $what: 1 } } }),
    );
    expect(bad.code).to.equal("invalid");
    expect((await listed())[0]?.filter).to.equal('{"b":2}');
  });

  it("does not find an emitter or listener that belongs to another account, is absent, or is not ready", async () => {
    const stranger = newId("u");
    const theirs = (await storeSource(platform, { owner_id: stranger }))._id;
    const theirWebhook = await webhookOf(stranger);
    const deploying = (await storeSource(platform, { owner_id: me.owner, state: "deploying" }))._id;
    const deleting = (await storeSource(platform, { owner_id: me.owner, state: "deleting" }))._id;
    for (const emitter of [theirs, deploying, deleting, newId("dc"), newId("p"), newId("o")]) {
      const error = await rejection(subscribe(platform, me, keyOf(emitter, webhook)));
      expect([error.code, error.message]).to.deep.equal(["not-found", "emitter not found"]);
    }
    for (const listener of [theirWebhook, theirs, deploying, deleting, newId("wh"), newId("p")]) {
      const error = await rejection(subscribe(platform, me, keyOf(source, listener)));
      expect([error.code, error.message]).to.deep.equal(["not-found", "listener not found"]);
      expect(
        (await rejection(autoSubscribe(platform, me, { listenerId: listener, eventName: "$logs" }))).code,
      ).to.equal("not-found");
    }
    expect(await listed()).to.deep.equal([]);
  });

  for (const invalid of [
    "",
    "*",
    "dc_",
    "dc_**",
    "wh_*",
    "u_1",
    "sc_0000000000000000",
    "dc_0000000000000000x",
    "$ne",
  ]) {
    it(`rejects ${JSON.stringify(invalid)} as emitter and as listener`, async () => {
      const emitter = await rejection(subscribe(platform, me, keyOf(invalid, webhook)));
      expect(emitter.fields.map(({ path }) => path)).to.deep.equal(["emitter_id"]);
      const listener = await rejection(subscribe(platform, me, keyOf(source, invalid)));
      expect(listener.fields.map(({ path }) => path)).to.deep.equal(["listener_id"]);
    });
  }

  it("accepts workflows as emitter and listener, and an organization of the subscriber as emitter", async () => {
    const org = newId("o");
    const member = subscriber(me.owner, org);
    const flow = newId("p");
    await Workflows(platform.mongo).insertOne({ _id: flow, owner_id: org, name: "flow", created_at: 0 });
    for (const [emitter, listener] of [
      [flow, webhook],
      [source, flow],
      [org, webhook],
      ["p_*", flow],
    ] as const) {
      expect(await subscribe(platform, member, keyOf(emitter, listener))).to.include({ owner_id: me.owner });
    }
    expect((await rejection(subscribe(platform, me, keyOf(flow, webhook)))).code).to.equal("not-found");
  });

  it("is undone once with the same emitter, listener and channel, by the same account only", async () => {
    await subscribe(platform, me, keyOf(source, webhook, "news"));
    const stranger = subscriber(newId("u"));
    for (const [who, key] of [
      [stranger, keyOf(source, webhook, "news")],
      [me, keyOf(source, webhook)],
      [me, keyOf("dc_*", webhook, "news")],
    ] as const) {
      expect((await rejection(unsubscribe(platform, who, key))).code).to.equal("not-found");
    }
    await unsubscribe(platform, me, keyOf(source, webhook, "news"));
    expect((await rejection(unsubscribe(platform, me, keyOf(source, webhook, "news")))).code).to.equal(
      "not-found",
    );
  });

  it("to future emitters creates one auto subscription for each listener and channel", async () => {
    const made = await Promise.all(
      Array.from({ length: 6 }, () =>
        autoSubscribe(platform, me, { listenerId: webhook, eventName: "$errors" }),
      ),
    );
    expect(new Set(made.map(({ _id }) => _id)).size).to.equal(1);
    await autoSubscribe(platform, me, { listenerId: webhook, eventName: "$logs" });
    expect(await AutoSubscriptions(platform.mongo).countDocuments({ owner_id: me.owner })).to.equal(2);
    const error = await rejection(autoSubscribe(platform, me, { listenerId: "u_1", eventName: "$logs" }));
    expect(error.fields[0]?.path).to.equal("listener_id");
  });
});
