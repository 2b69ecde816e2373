import { expect } from "chai";
import { newId } from "../../../src/lib/ids.ts";
import { Deliveries } from "../../../src/models/delivery.ts";
import { Issues } from "../../../src/models/issue.ts";
import type { Api } from "../../support/api.ts";
import { type Receiver, startReceiver } from "../../support/receiver.ts";
import { type System, startSystem } from "../../support/system.ts";
import { until } from "../../support/until.ts";

describe("issues", () => {
  let system: System;
  let receiver: Receiver;
  let api: Api & { userId: string };
  let flow: string;
  before(async () => {
    system = await startSystem({ DELIVERY_RETRY_SCHEDULE: "100ms" });
    receiver = await startReceiver();
  });
  after(async () => {
    await receiver.close();
    await system.stop();
  });
  beforeEach(async () => {
    api = await system.user();
    flow = (await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } })).id;
    receiver.requests.splice(0);
  });

  const listener = async () => {
    const { id } = await api.createWebhook(receiver.url, { name: "orders" });
    await api.subscribe(flow, id);
    return id as string;
  };
  const publish = (...events: unknown[]) =>
    api.expect(202, "POST", `/workflows/${flow}/events`, {
      body: { events: events.map(event => ({ event })) },
    });
  const issues = (query = {}) => api.expect(200, "GET", "/users/me/issues", { query });
  const issueWith = (expected: object) =>
    until(
      async () => {
        const found = await issues();
        return found.find((one: object) =>
          Object.entries(expected).every(([name, value]) => one[name as keyof object] === value),
        );
      },
      { what: JSON.stringify(expected) },
    );
  const deliveries = (query: object) => api.expect(200, "GET", "/deliveries", { query: { ...query } });

  it("group the failures of a listener by cause, and lead to its deliveries", async () => {
    const id = await listener();
    receiver.script(503, 503, "reset");
    await publish(1);
    const unavailable = await issueWith({ cause: "status:503", failed_deliveries: 1 });
    await publish(2);
    const reset = await issueWith({ cause: "reset", failed_deliveries: 1 });
    expect(unavailable).to.include({
      ...{ listener_id: id, listener_name: "orders", listener_kind: "webhook", state: "open" },
      ...{ last_status: 503, last_error: "HTTP status 503" },
    });
    expect(reset.last_error).to.match(/^reset: /);
    expect((await issues({ listener_id: id })).length).to.equal(2);
    expect(await issues({ state: "resolved" })).to.deep.equal([]);
    const [first] = await deliveries({ issue_id: unavailable.id });
    expect(first).to.include({ issue_id: unavailable.id, state: "failed" });
    expect(await deliveries({ issue_id: unavailable.id, state: "delivered" })).to.deep.equal([]);
    expect(await deliveries({ issue_id: unavailable.id, emitter_id: flow })).to.have.length(1);
    expect(await deliveries({ issue_id: reset.id, webhook_id: await listener() })).to.deep.equal([]);
    expect((await deliveries({ issue_id: reset.id }))[0].id).to.equal(reset.last_delivery_id);
    receiver.script(200);
    await publish(3);
    await until(async () => (await deliveries({ state: "delivered", webhook_id: id })).length === 1);
    expect((await deliveries({ state: "delivered", webhook_id: id }))[0].issue_id).to.equal(null);
  });

  it("are acknowledged, resolved and opened by hand", async () => {
    await listener();
    receiver.script(500);
    await publish(1);
    const { id } = await issueWith({ failed_deliveries: 1 });
    const set = (state: string) => api.expect(200, "PUT", `/issues/${id}`, { body: { state } });
    const acknowledged = await set("acknowledged");
    expect(acknowledged).to.include({
      state: "acknowledged",
      acknowledged_by: api.userId,
      resolved_by: null,
    });
    expect(await set("acknowledged")).to.deep.equal(acknowledged);
    expect(await set("resolved")).to.include({ state: "resolved", resolved_by: api.userId });
    const opened = await set("open");
    expect(opened).to.include({
      state: "open",
      acknowledged_by: null,
      resolved_by: null,
      failed_since_opened: 0,
    });
    expect(opened.opened_at_ms).to.be.greaterThan(opened.first_seen_ms);
    expect((await api.request("PUT", `/issues/${id}`, { body: { state: "closed" } })).status).to.equal(400);
    expect(await api.expect(200, "GET", `/issues/${id}`)).to.deep.equal(opened);
  });

  it("retry all that failed with one request, and nothing else", async () => {
    const id = await listener();
    receiver.script(500, 500, 500, 500, 404, 404, 200);
    await publish(1, 2);
    const { id: issue } = await issueWith({ cause: "status:500", failed_deliveries: 2 });
    await publish(3);
    await issueWith({ cause: "status:404", failed_deliveries: 1 });
    const replay = await api.expect(202, "POST", `/issues/${issue}/retry`);
    expect(replay).to.deep.include({
      ...{ count: 2, state: "running", filter: { issue_id: issue, webhook_id: id, state: "failed" } },
    });
    const ended = await until(async () => {
      const found = await api.expect(200, "GET", `/replays/${replay.id}`);
      return found.state === "done" && found;
    });
    expect(ended).to.include({ replayed: 2, skipped: 0 });
    await until(async () => (await deliveries({ state: "delivered" })).length === 2);
    expect(await deliveries({ state: "failed" })).to.have.length(1);
    // They are still those of the issue, whose state is nobody's but its people's.
    expect(await deliveries({ issue_id: issue })).to.have.length(2);
    expect((await api.expect(200, "GET", `/issues/${issue}`)).state).to.equal("open");
    await api.expect(200, "PUT", `/webhooks/${id}`, { body: { active: false } });
    expect((await api.request("POST", `/issues/${issue}/retry`)).status).to.equal(409);
  });

  it("say that a subscription's function failed, which is none of the endpoint's", async () => {
    const { id } = await api.createWebhook(receiver.url);
    await api.expect(200, "POST", "/subscriptions", {
      query: { emitter_id: flow, listener_id: id },
      body: { function: "export default event => event.missing.deep;" },
    });
    await publish({});
    const issue = await issueWith({ cause: "function", failed_deliveries: 1 });
    expect(issue.last_error).to.match(/^function: .*missing|undefined/);
    expect(receiver.requests).to.have.length(0);
  });

  it("are what the alert of a delivery without a retry left is about, of which there is one an hour", async () => {
    const id = await listener();
    receiver.script(500);
    await publish(1, 2);
    const { id: issue } = await issueWith({ failed_deliveries: 2 });
    const [{ event }, ...others] = await until(async () => {
      const found = await api.expect(200, "GET", "/users/me/$alerts/event_summaries");
      return found.length > 0 && found;
    });
    expect(others.length, "two if the hour ended in between").to.be.lessThan(2);
    expect(event).to.deep.include({ type: "delivery.failed", subject: { id, name: "orders" } });
    expect(event.details).to.include({ issue_id: issue, cause: "status:500" });
  });

  it("go with their listener, and are nobody else's", async () => {
    const id = await listener();
    receiver.script(500);
    await publish(1);
    const { id: issue } = await issueWith({ failed_deliveries: 1 });
    const other = await system.user();
    for (const [method, path] of [
      ["GET", `/issues/${issue}`],
      ["PUT", `/issues/${issue}`],
      ["POST", `/issues/${issue}/retry`],
      ["GET", `/deliveries?issue_id=${issue}`],
      ["GET", `/users/me/issues?listener_id=${id}`],
    ] as const) {
      const body = method === "PUT" ? { body: { state: "resolved" } } : {};
      expect((await other.request(method, path, body)).status, path).to.equal(404);
    }
    expect(await other.expect(200, "GET", "/users/me/issues")).to.deep.equal([]);
    await api.expect(204, "DELETE", `/webhooks/${id}`);
    expect(await Issues(system.worker.mongo).countDocuments({ listener_id: id })).to.equal(0);
  });

  it("are listed on pages, those of the newest listeners first", async () => {
    const ids = [await listener(), await listener()];
    receiver.script(500);
    await publish(1);
    await until(async () => (await issues()).length === 2);
    expect((await issues()).map((one: { listener_id: string }) => one.listener_id)).to.deep.equal(
      ids.reverse(),
    );
    const { body } = await api.request("GET", "/users/me/issues", { query: { limit: "1" } });
    expect(body.data).to.have.length(1);
    expect(body.page_info.total_count).to.equal(2);
    const after = { limit: "1", after: body.page_info.end_cursor };
    expect((await issues(after))[0].listener_id).to.equal(ids[1]);
  });

  it("of a delivery that an earlier release recorded are none", async () => {
    const id = await listener();
    receiver.script(200);
    await publish(1);
    await until(async () => (await deliveries({ webhook_id: id })).length === 1);
    const row = await Deliveries(system.worker.mongo).findOne({ webhook_id: id }).lean();
    if (!row) throw new Error("no delivery");
    await Deliveries(system.worker.mongo).insertOne({ ...row, _id: newId("dlv"), state: "failed" });
    expect((await deliveries({ state: "failed" }))[0].issue_id).to.equal(null);
  });
});
