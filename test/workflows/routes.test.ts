import { expect } from "chai";
import { addMember } from "../../src/accounts/organizations.ts";
import type { Api } from "../support/api.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

type User = Api & { userId: string };

/** docs/rest-api.md#workflows; who may do what is in test/contract/authorization.test.ts. */
describe("workflows over REST", () => {
  let system: System;
  let receiver: Receiver;
  let api: User;
  before(async () => {
    system = await startSystem();
    receiver = await startReceiver();
    api = await system.user();
  });
  after(async () => {
    await receiver.close();
    await system.stop();
  });

  const create = (name: string, query: Record<string, string> = {}, by = api) =>
    by.expect(201, "POST", "/workflows", { body: { name }, query });

  it("are registered, listed, renamed and deleted", async () => {
    const created = await create("Orders");
    expect(created).to.include({ name: "Orders" }).and.to.have.keys("id", "name", "created_at", "updated_at");
    expect(created.id).to.match(/^p_/);
    expect(await api.expect(200, "GET", "/users/me/workflows")).to.deep.equal([created]);
    const renamed = await api.expect(200, "PUT", `/workflows/${created.id}`, { body: { name: "Bills" } });
    expect(renamed).to.include({ id: created.id, name: "Bills", created_at: created.created_at });
    const shown = await api.expect(200, "GET", `/workflows/${created.id}`);
    expect(shown).to.deep.equal({ ...renamed, dropped: {} });
    await api.expect(204, "DELETE", `/workflows/${created.id}`);
    expect((await api.request("GET", `/workflows/${created.id}`)).status).to.equal(404);
    expect(await api.expect(200, "GET", "/users/me/workflows")).to.deep.equal([]);
  });

  it("need a name", async () => {
    for (const name of ["", "  ", "x".repeat(129), 7]) {
      const response = await api.request("POST", "/workflows", { body: { name } });
      expect([response.status, response.body.errors?.[0].path]).to.deep.equal([400, "name"]);
    }
  });

  it("of an organization are its members', as soon as they are members", async () => {
    const org_id = await system.organization(api.userId);
    const { id } = await create("Shared", { org_id });
    const other = await system.user();
    const rename = () => other.request("PUT", `/workflows/${id}`, { body: { name: "Ours" } });
    expect((await rename()).status).to.equal(404);
    await addMember(system.worker, org_id, other.userId);
    expect((await rename()).status).to.equal(200);
    const [listed] = await other.expect(200, "GET", `/orgs/${org_id}/workflows`);
    expect(listed).to.include({ id, name: "Ours" });
    expect(await api.expect(200, "GET", "/users/me/workflows")).to.deep.equal([]);
  });

  it("get the auto subscriptions of their account, and take all subscriptions with them", async () => {
    const webhook = await api.createWebhook(receiver.url);
    await api.expect(200, "POST", "/auto_subscriptions", {
      query: { event_name: "$errors", listener_id: webhook.id },
    });
    const [emitter, listener] = [await create("Emitter"), await create("Listener")];
    await api.subscribe(emitter.id, listener.id);
    const error = { original_event: 1, original_context: {}, error: { code: "Odd" } };
    await api.expect(202, "POST", `/workflows/${emitter.id}/events`, {
      body: { event: error, name: "$errors" },
    });
    await until(() => receiver.requests.length === 1, { what: "the error's delivery" });
    const errors = await api.expect(200, "GET", `/workflows/${emitter.id}/$errors/event_summaries`);
    expect(errors[0].event).to.deep.equal(error);
    const subscriptions = async () => (await api.expect(200, "GET", "/users/me/subscriptions")).length;
    expect(await subscriptions()).to.equal(3);
    await api.expect(204, "DELETE", `/workflows/${listener.id}`);
    expect(await subscriptions()).to.equal(1);
    await api.expect(204, "DELETE", `/workflows/${emitter.id}`);
    expect(await subscriptions()).to.equal(0);
  });
});
