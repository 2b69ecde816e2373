import { expect } from "chai";
import { createApiKey, revokeAsOperator } from "../../src/accounts/api-keys.ts";
import { withdrawAccess } from "../../src/accounts/openid-connect/find-user.ts";
import { setOperator } from "../../src/accounts/operators.ts";
import { addMember } from "../../src/accounts/organizations.ts";
import { endAllSessions, startSession } from "../../src/accounts/sessions/sessions.ts";
import { newId } from "../../src/lib/ids.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { AuditEntries } from "../../src/models/audit-entry.ts";
import { Webhooks } from "../../src/models/webhook.ts";
import { disableGone } from "../../src/webhooks/health.ts";
import { BrowserApi, signInWith } from "../accounts/sessions/browser.ts";
import { Api, type Page } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";

type User = Api & { userId: string };

const URL_OF_HOOK = "https://example.com/hook";

describe("the audit log", () => {
  let system: System;
  let api: User;
  before(async () => {
    system = await startSystem({}, { workers: false });
  });
  after(() => system.stop());
  beforeEach(async () => {
    api = await system.user();
  });

  const log = (query: Record<string, string | number> = {}, of: Api = api) =>
    of.expect(200, "GET", "/users/me/audit_log", { query });
  const last = async (of?: Api) => (await log({}, of))[0];
  const actions = async () => (await log({ limit: 100 })).map(({ action }: { action: string }) => action);

  it("says who did what to which thing, from where, with which names of fields", async () => {
    const created = await api.expect(201, "POST", "/api_keys", { body: { name: "deploy" } });
    const script = new Api(api.baseUrl, created.api_key);
    const { id } = await script.createWebhook(URL_OF_HOOK, { name: "orders" });
    const headers = { "user-agent": `tool/${"x".repeat(300)}` };
    await script.request("PUT", `/webhooks/${id}`, {
      headers,
      body: { url: "https://example.com/other", ordered: true },
    });
    const entry = await last();
    expect(entry).to.deep.include({
      action: "webhook.updated",
      thing: { kind: "webhook", id, name: "orders", exists: true },
      fields: ["url", "ordered"],
      outcome: "done",
      reason: null,
      address: "127.0.0.1",
      user_agent: headers["user-agent"].slice(0, 200),
    });
    expect(entry.actor).to.include({
      ...{ kind: "api_key", user_id: api.userId, id: created.id, name: "deploy" },
      ...{ prefix: created.api_key.slice(0, 7), signed_in_with: null },
    });
    expect(entry.actor.user_name).to.be.a("string");
    expect(entry.at_ms).to.be.closeTo(Date.now(), 60_000);
  });

  it("names the session of a browser, from its start to its end", async () => {
    const browser = new BrowserApi(api.baseUrl, await signInWith(api));
    const started = await last();
    expect(started).to.deep.include({ action: "session.started", fields: ["api_key"] });
    expect(started.actor).to.include({
      ...{ kind: "session", user_id: api.userId, signed_in_with: "api_key", name: null },
      id: started.thing.id,
    });
    await browser.createWebhook(URL_OF_HOOK);
    expect((await last()).actor).to.include({ kind: "session", id: started.thing.id });
    await browser.expect(204, "DELETE", "/sessions/current");
    expect(await last()).to.deep.include({ action: "session.ended", thing: { ...started.thing } });
    await api.expect(204, "DELETE", "/sessions/current");
    expect(await actions()).to.deep.equal(["session.ended", "webhook.created", "session.started"]);
  });

  it("has no entry of what changes nothing, is only read or tried, or is rejected", async () => {
    const { id } = await api.createWebhook(URL_OF_HOOK, { name: "orders" });
    await api.expect(200, "PUT", `/webhooks/${id}`, { body: {} });
    await api.expect(200, "GET", `/webhooks/${id}`);
    await api.expect(200, "POST", `/webhooks/${id}/recover`, { body: { since: 0, dry_run: true } });
    await api.expect(200, "POST", "/replays", { body: { state: "failed", dry_run: true } });
    await api.expect(404, "DELETE", `/webhooks/${newId("wh")}`);
    await api.expect(400, "PUT", `/webhooks/${id}`, { body: { url: "nonsense" } });
    const flow = await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } });
    await api.expect(202, "POST", `/workflows/${flow.id}/events`, { body: { event: 1 } });
    expect(await actions()).to.deep.equal(["workflow.created", "webhook.created"]);
  });

  it("has one entry for a request that is sent again with its idempotency key", async () => {
    const headers = { "idempotency-key": "once" };
    const options = { query: { url: URL_OF_HOOK }, headers };
    await api.expect(201, "POST", "/webhooks", options);
    await api.expect(201, "POST", "/webhooks", options);
    expect(await actions()).to.deep.equal(["webhook.created"]);
  });

  it("is that of the account that owns the thing, not of the member who changed it", async () => {
    const org_id = await system.organization(api.userId);
    const member = await system.user();
    await addMember(system.worker, org_id, member.userId);
    const { id } = await api.createWebhook(URL_OF_HOOK, { org_id });
    // Without `org_id`: the thing has its owner.
    await member.expect(200, "PUT", `/webhooks/${id}`, { body: { name: "theirs" } });
    await member.expect(201, "POST", "/api_keys", { query: { org_id }, body: {} });
    const path = `/orgs/${org_id}/audit_log`;
    const [updated, created, ...others] = await api.expect(200, "GET", path);
    expect([updated.actor.user_id, created.actor.user_id]).to.deep.equal([member.userId, api.userId]);
    expect(others).to.deep.equal([]);
    expect((await log({}, member)).map(({ action }: { action: string }) => action)).to.deep.equal([
      "api_key.created",
    ]);
    expect(await log()).to.deep.equal([]);
    await (await system.user()).expect(404, "GET", path);
  });

  it("is narrowed by action, actor, thing and time", async () => {
    const { id } = await api.createWebhook(URL_OF_HOOK, { name: "orders" });
    const other = await api.createWebhook(URL_OF_HOOK);
    await api.expect(204, "DELETE", `/webhooks/${id}`);
    const count = async (query: Record<string, string | number>) => (await log(query)).length;
    expect(await count({ action: "webhook.created" })).to.equal(2);
    expect(await count({ thing_id: id })).to.equal(2);
    expect(await count({ thing_id: other.id, action: "webhook.deleted" })).to.equal(0);
    expect(await count({ actor_id: api.userId })).to.equal(3);
    const [{ actor, thing }] = await log();
    expect(thing).to.deep.equal({ kind: "webhook", id, name: "orders", exists: false });
    expect(await count({ actor_id: actor.id })).to.equal(3);
    expect(await count({ actor_id: "headwater" })).to.equal(0);
    const now = Math.floor(Date.now() / 1000);
    expect(await count({ since: now - 600, until: now + 600 })).to.equal(3);
    expect(await count({ until: now - 600 })).to.equal(0);
    expect(await count({ since: now + 600 })).to.equal(0);
    await api.expect(400, "GET", "/users/me/audit_log", { query: { since: 2, until: 1 } });
    await api.expect(400, "GET", "/users/me/audit_log", { query: { action: "Webhook" } });
  });

  it("calls a subscription after what it connects, by whichever request it ends", async () => {
    const flow = await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } });
    const { id } = await api.createWebhook(URL_OF_HOOK);
    const name = `${flow.id} → ${id}`;
    const subscription = await api.subscribe(flow.id, id);
    const expected = { kind: "subscription", id: subscription.id, name };
    expect((await last()).thing).to.include(expected);
    const key = { emitter_id: flow.id, listener_id: id };
    await api.expect(204, "DELETE", "/subscriptions", { query: key });
    expect(await last()).to.deep.include({
      action: "subscription.deleted",
      thing: { ...expected, exists: false },
    });
  });

  it("says what Headwater did by itself, and why", async () => {
    const { id } = await api.createWebhook(URL_OF_HOOK, { name: "orders" });
    const webhook = await Webhooks(system.worker.mongo).findById(id).lean();
    if (!webhook) throw new Error("no webhook");
    await disableGone(system.worker, webhook);
    const [entry] = await log({ actor_id: "headwater" });
    expect(entry).to.deep.include({
      action: "webhook.disabled",
      thing: { kind: "webhook", id, name: "orders", exists: true },
      reason: "the endpoint returned 410 Gone",
      address: null,
      user_agent: null,
    });
    expect(entry.actor).to.include({ kind: "headwater", user_id: null, id: null });
    const { userId } = api;
    for (let n = 0; n <= LIMITS.sessions.value; n++) {
      await startSession(system.worker, { userId, keyId: null, userAgent: "" });
    }
    expect(await log({ action: "session.ended" })).to.have.length(1);
    await withdrawAccess(system.worker, userId);
    await withdrawAccess(system.worker, userId);
    expect(await log({ action: "user.access_withdrawn" })).to.have.length(1);
  });

  it("says what the operator did", async () => {
    const { worker } = system;
    const { id } = await createApiKey(worker, api.userId);
    await revokeAsOperator(worker, id);
    await endAllSessions(worker, api.userId);
    expect(await actions()).to.deep.equal(["user.signed_out", "api_key.revoked", "api_key.created"]);
    expect(await log({ actor_id: "operator" })).to.have.length(3);
  });

  it("is kept for the installation, too, of what operators do, for operators to read", async () => {
    const read = (of: Api, query: Record<string, string> = {}) =>
      of.request<Page<{ action: string; thing: { id: string } }>>("GET", "/audit_log", { query });
    expect((await read(api)).status).to.equal(403);
    await setOperator(system.worker, api.userId, true);
    const { id } = await createApiKey(system.worker, api.userId);
    const bert = await api.expect(201, "POST", "/users", { body: { email: `${newId("u")}@example.test` } });
    const org = await api.expect(201, "POST", "/orgs", { body: { name: "His", owner_id: bert.id } });
    const hook = await api.createWebhook(URL_OF_HOOK);
    const { data } = (await read(api)).body;
    const things = data.map(({ thing }) => thing.id);
    expect(things.slice(0, 3)).to.deep.equal([org.id, bert.id, id]);
    expect(things).not.to.include(hook.id);
    expect((await read(api, { action: "user.created", thing_id: bert.id })).body.data).to.have.length(1);
    // Not who made it, and from where: that is the operator's.
    const his = new Api(api.baseUrl, bert.api_key);
    expect(await log({}, his)).to.deep.equal([]);
    await setOperator(system.worker, api.userId, false);
    expect((await read(api)).status).to.equal(403);
  });

  it("keeps its entries for 90 days", async () => {
    await api.createWebhook(URL_OF_HOOK);
    const entries = AuditEntries(system.worker.mongo);
    const [entry] = await entries.find({ owner_id: api.userId }).lean();
    expect((entry?.expires_at.getTime() ?? 0) - (entry?.at_ms ?? 0)).to.equal(90 * 86_400_000);
    const indexes = await entries.collection.indexes();
    expect(indexes.find(({ expireAfterSeconds }) => expireAfterSeconds === 0)?.key).to.deep.equal({
      expires_at: 1,
    });
  });
});
