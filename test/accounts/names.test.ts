import { expect } from "chai";
import { readNames } from "../../src/accounts/names.ts";
import { addMember, removeMember } from "../../src/accounts/organizations.ts";
import { newId } from "../../src/lib/ids.ts";
import { RunRecords } from "../../src/models/run.ts";
import { storeDelivery } from "../deliveries/delivery-row.ts";
import type { Api } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";

describe("names in rows", () => {
  let system: System;
  let api: Api & { userId: string };
  before(async () => {
    system = await startSystem({}, { workers: false });
  });
  after(() => system.stop());
  beforeEach(async () => {
    api = await system.user();
  });

  const workflow = async (by: Api, name: string, query: Record<string, string> = {}): Promise<string> =>
    (await by.expect(201, "POST", "/workflows", { body: { name }, query })).id;

  const deliver = async (emitter_id: string, webhook_id: string, subscription_id = "sub_x") =>
    (await storeDelivery(system.worker, { owner_id: api.userId, webhook_id, emitter_id, subscription_id }))
      ._id;

  it("are those of a delivery's webhook and emitter, in lists and alone", async () => {
    const flow = await workflow(api, "Orders");
    const webhook = (await api.createWebhook("http://127.0.0.1:9/", { name: "shop" })).id;
    const id = await deliver(flow, webhook);
    const names = { webhook_name: "shop", emitter_name: "Orders" };
    const [listed] = await api.expect(200, "GET", "/deliveries");
    expect(listed).to.include({ id, ...names });
    const [ofWebhook] = await api.expect(200, "GET", `/webhooks/${webhook}/deliveries`);
    expect(ofWebhook).to.include({ id, ...names });
    expect(await api.expect(200, "GET", `/deliveries/${id}`)).to.include(names);
  });

  it("are null for a webhook without a name, and for an emitter that is gone", async () => {
    const flow = await workflow(api, "Short-lived");
    const webhook = (await api.createWebhook("http://127.0.0.1:9/")).id;
    await deliver(flow, webhook);
    await api.expect(204, "DELETE", `/workflows/${flow}`);
    const [listed] = await api.expect(200, "GET", "/deliveries");
    expect(listed).to.include({ webhook_name: null, emitter_name: null });
  });

  it("are those of a subscription's ends; a pattern has none, and an account has its own", async () => {
    const flow = await workflow(api, "Orders");
    const listener = await workflow(api, "Ledger");
    const { id } = await api.subscribe(flow, listener);
    await api.subscribe("dc_*", listener);
    await api.subscribe(api.userId, listener, "$alerts");
    expect(await api.expect(200, "GET", `/subscriptions/${id}`)).to.include({
      emitter_name: "Orders",
      listener_name: "Ledger",
    });
    const listed = await api.expect(200, "GET", "/users/me/subscriptions");
    const { username } = await api.expect(200, "GET", "/users/me");
    expect(listed.map((one: { emitter_name: string | null }) => one.emitter_name)).to.deep.equal([
      username,
      null,
      "Orders",
    ]);
    expect(new Set(listed.map((one: { listener_name: string }) => one.listener_name))).to.deep.equal(
      new Set(["Ledger"]),
    );
  });

  it("are that of a run's source", async () => {
    const source = await api.createSource({
      component_code: `export default { name: "Hello", version: "0.0.1", run() {} };`,
      name: "greeter",
    });
    await RunRecords(system.worker.mongo).insertOne({
      _id: newId("run"),
      source_id: source.id,
      owner_id: api.userId,
      kind: "http",
      outcome: "ok",
      duration_ms: 1,
      emitted: 0,
      dropped: {},
      finished_at: new Date(),
      expires_at: new Date(Date.now() + 60_000),
    });
    const [run] = await api.expect(200, "GET", `/sources/${source.id}/runs`);
    expect(run.source_name).to.equal("greeter");
  });

  it("of an organization are read by its members only, also where a subscription connects the accounts", async () => {
    const owner = await system.user();
    const orgId = await system.organization(owner.userId);
    await addMember(system.worker, orgId, api.userId);
    const flow = await workflow(owner, "Secret plans", { org_id: orgId });
    const webhook = (await api.createWebhook("http://127.0.0.1:9/", { name: "mine" })).id;
    const { id } = await api.subscribe(flow, webhook);
    await deliver(flow, webhook, id);
    const emitterNames = async () => [
      (await api.expect(200, "GET", `/subscriptions/${id}`)).emitter_name,
      (await api.expect(200, "GET", "/deliveries"))[0].emitter_name,
    ];
    expect(await emitterNames()).to.deep.equal(["Secret plans", "Secret plans"]);
    await removeMember(system.worker, { orgId, userId: api.userId, callerId: api.userId });
    expect(await emitterNames()).to.deep.equal([null, null]);
    const [listed] = await api.expect(200, "GET", "/users/me/subscriptions");
    expect(listed).to.include({ emitter_name: null, listener_name: "mine" });
  });

  it("are read of each kind of thing, and of no other account", async () => {
    const other = await system.user();
    const theirs = [
      await workflow(other, "Theirs"),
      (await other.createWebhook("http://127.0.0.1:9/", { name: "theirs" })).id,
      await system.organization(other.userId),
      other.userId,
    ];
    const orgId = await system.organization(api.userId);
    const flow = await workflow(api, "Mine");
    const owners = [api.userId, orgId];
    const nameOf = await readNames(system.worker, [...theirs, flow, orgId, "p_*", "nothing"], owners);
    expect(theirs.map(nameOf)).to.deep.equal([null, null, null, null]);
    expect(nameOf(flow)).to.equal("Mine");
    expect(nameOf(orgId)).to.be.a("string");
    expect(["p_*", "nothing"].map(nameOf)).to.deep.equal([null, null]);
  });
});
