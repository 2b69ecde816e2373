import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { Connections } from "../../src/models/connection.ts";
import { Sources } from "../../src/models/source.ts";
import { Webhooks } from "../../src/models/webhook.ts";
import type { Api } from "../support/api.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const SHOWN_WITHIN_MS = 5000;
const FAILS = `export default { name: "Fails", version: "0.0.1", props: { http: "$.interface.http" },
  run() { throw new TypeError("on purpose"); } };`;

describe("what needs attention", () => {
  let system: System;
  let receiver: Receiver;
  let api: Api & { userId: string };
  let flow: string;
  before(async () => {
    system = await startSystem({ DELIVERY_RETRY_SCHEDULE: "100ms,1h" });
    receiver = await startReceiver();
  });
  after(async () => {
    await receiver.close();
    await system.stop();
  });
  beforeEach(async () => {
    api = await system.user();
    flow = (await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } })).id;
  });

  const NOTHING = {
    needs: { total: 0, disabled: 0, issues: 0, sources: 0, connections: 0, quotas: 0, failing: 0 },
    ...{ disabled: [], failing: [], issues: [], sources: [], connections: [], quotas: [] },
    retries: { count: 0, oldest: null },
  };
  const attention = (query = {}) => api.expect(200, "GET", "/attention", { query });
  const publish = () =>
    api.expect(202, "POST", `/workflows/${flow}/events`, { body: { events: [{ event: 1 }] } });
  const listener = async (query = {}) => {
    const { id } = await api.createWebhook(receiver.url, { name: "orders", ...query });
    await api.subscribe(flow, id);
    return id as string;
  };

  it("is nothing of an account whose things work", async () => {
    receiver.script(200);
    await listener();
    await publish();
    await until(() => receiver.requests.length > 0);
    expect(await attention()).to.deep.equal(NOTHING);
  });

  it("names a webhook that stopped, with its cause, within seconds, until it works again", async () => {
    const id = await listener();
    receiver.script(503);
    await publish();
    const startedAt = performance.now();
    const shown = await until(
      async () => {
        const found = await attention();
        return found.failing[0]?.causes.length > 0 && found.issues[0]?.count >= 2 && found;
      },
      { what: "the webhook with its cause" },
    );
    expect(performance.now() - startedAt).to.be.lessThan(SHOWN_WITHIN_MS);
    expect(shown.needs).to.include({ total: 1, issues: 1, failing: 1 });
    const [failing] = shown.failing;
    expect(failing).to.include({ id, name: "orders" });
    expect(failing.will_be_disabled_at_ms).to.be.greaterThan(failing.since_ms);
    expect(failing.causes[0]).to.deep.include({
      ...{ issue_id: shown.issues[0].id, cause: "status:503", state: "open", last_error: "HTTP status 503" },
    });
    expect(shown.issues[0]).to.include({ listener_id: id, listener_name: "orders" });
    expect(shown.retries.count).to.equal(1);
    expect(shown.retries.oldest).to.include({
      ...{ listener_id: id, listener_name: "orders", issue_id: shown.issues[0].id },
      delivery_id: shown.issues[0].last_delivery_id,
    });
    await api.expect(200, "PUT", `/issues/${shown.issues[0].id}`, { body: { state: "acknowledged" } });
    const known = await attention();
    expect(known.needs).to.include({ total: 0, issues: 0, failing: 1 });
    expect(known.issues).to.deep.equal([]);
    expect(known.failing[0].causes[0].state).to.equal("acknowledged");
    receiver.script(200);
    await api.expect(202, "POST", `/deliveries/${shown.retries.oldest.delivery_id}/retry`);
    await until(async () => (await attention()).needs.failing === 0);
    expect((await attention()).retries).to.deep.equal(NOTHING.retries);
  });

  it("names a webhook that was disabled, since when and why", async () => {
    const id = await listener();
    receiver.script(410);
    await publish();
    const { needs, disabled, failing } = await until(async () => {
      const found = await attention();
      return found.disabled[0]?.causes.length > 0 && found;
    });
    expect(needs).to.include({ disabled: 1, failing: 0 });
    expect(failing).to.deep.equal([]);
    expect(disabled[0]).to.include({ id, reason: "the endpoint returned 410 Gone" });
    expect(disabled[0].since_ms).to.be.closeTo(Date.now(), 60_000);
    expect(disabled[0].causes[0].cause).to.equal("status:410");
    // One that an earlier release disabled.
    await Webhooks(system.worker.mongo).updateOne({ _id: id }, { $unset: { disabled_at_ms: 1 } });
    expect((await attention()).disabled[0].since_ms).to.equal(null);
    await api.expect(200, "PUT", `/webhooks/${id}`, { body: { active: true } });
    expect((await attention()).needs.disabled).to.equal(0);
    // Its owner disabled this one.
    await api.expect(200, "PUT", `/webhooks/${id}`, { body: { active: false } });
    expect((await attention()).needs.disabled).to.equal(0);
  });

  it("names sources whose runs fail one after another", async () => {
    const source = await api.createSource({ component_code: FAILS });
    for (let n = 0; n < 3; n++)
      await fetch(source.configured_props.http?.endpoint_url ?? "", { method: "POST" });
    const { sources, needs } = await until(async () => {
      const found = await attention();
      return found.sources.length > 0 && found;
    });
    expect(needs.sources).to.equal(1);
    expect(sources[0]).to.include({ id: source.id, name: source.name, code: "TypeError" });
    expect(sources[0].failed_runs).to.be.at.least(3);
    await Sources(system.worker.mongo).updateOne({ _id: source.id }, { $unset: { "failing.code": 1 } });
    expect((await attention()).sources[0].code).to.equal(null);
    await api.expect(200, "PUT", `/sources/${source.id}`, { body: { active: false } });
    expect((await attention()).needs.sources).to.equal(0);
  });

  it("names connections that do not work, and quotas of which little is left", async () => {
    const body = { app: "weather", name: "home", fields: { api_key: "secret" } };
    const { id } = await api.expect(201, "POST", "/connections", { body });
    const fault = { code: "invalid_grant", message: "the app has ended the access", at_ms: 1000 };
    await Connections(system.worker.mongo).updateOne({ _id: id }, { $set: { health: "broken", fault } });
    const { keys, redis, config, clock } = system.worker;
    const today = new Date(clock()).toISOString().slice(0, 10);
    const most = config.quotas.dailyInvocations;
    await redis.hset(keys.usage(api.userId, today), "invocations", Math.ceil(most * 0.8), "compute", 1);
    const { needs, connections, quotas } = await attention();
    expect(needs).to.include({ total: 2, connections: 1, quotas: 1 });
    expect(connections).to.deep.equal([
      {
        ...{ id, name: "home", app: "weather", health: "broken" },
        ...{ since_ms: 1000, code: "invalid_grant", message: fault.message },
      },
    ]);
    expect(quotas).to.deep.equal([{ quota: "invocations", used: Math.ceil(most * 0.8), most, percent: 80 }]);
  });

  it("shows the newest of each kind, and counts the others", async () => {
    const most = LIMITS.attentionRows.value;
    const { id } = await api.createWebhook(receiver.url);
    const model = Webhooks(system.worker.mongo);
    const row = await model.findById(id).lean();
    if (!row) throw new Error("no webhook");
    const copies = Array.from({ length: most + 1 }, (_, n) => ({
      ...{ ...row, _id: newId("wh"), name: `hook ${n}`, failing_since_ms: 1000 + n },
    }));
    await model.insertMany(copies);
    const { needs, failing } = await attention();
    expect(needs).to.include({ total: 0, failing: most + 1 });
    expect(failing.map(({ name }: { name: string }) => name)).to.deep.equal(
      copies
        .map(({ name }) => name)
        .reverse()
        .slice(0, most),
    );
  });

  it("is of one account: a member sees that of an organization, and nobody else does", async () => {
    const orgId = await system.organization(api.userId);
    const { id } = await api.createWebhook(receiver.url, { org_id: orgId });
    await Webhooks(system.worker.mongo).updateOne({ _id: id }, { $set: { failing_since_ms: 1000 } });
    expect((await attention({ org_id: orgId })).failing[0]).to.include({ id, since_ms: 1000, name: null });
    expect(await attention()).to.deep.equal(NOTHING);
    const other = await system.user();
    expect(await other.expect(200, "GET", "/attention")).to.deep.equal(NOTHING);
    expect((await other.request("GET", "/attention", { query: { org_id: orgId } })).status).to.equal(404);
  });
});
