import { expect } from "chai";
import { META } from "../../../src/mcp/protocol.ts";
import { Alerts } from "../../../src/models/alert.ts";
import { type McpListener, Webhooks } from "../../../src/models/webhook.ts";
import { noteFailure } from "../../../src/webhooks/health.ts";
import { sweep } from "../../support/sweep.ts";
import { type System, startSystem } from "../../support/system.ts";
import { until } from "../../support/until.ts";
import { type Callback, call, newSecret, startCallback, subscribe } from "./agent.ts";

const CODE = `export default { name: "Orders", version: "0.0.1", props: { http: "$.interface.http" },
  run({ body }) { this.$emit(body); } };`;
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const CLIENT = { [META.clientInfo]: { name: "Wall\ndisplay", version: "2.1" } };

describe("an agent's subscription whose callback fails", () => {
  let system: System;
  let api: Awaited<ReturnType<System["user"]>>;
  let source: { id: string; url: string };
  const callbacks: Callback[] = [];
  before(async () => {
    system = await startSystem({ RATE_LIMITS: "api:0", SWEEP_EVERY: "1h" });
    api = await system.user();
    const { id, configured_props } = await api.createSource({ component_code: CODE });
    source = { id, url: configured_props.http?.endpoint_url ?? "" };
  });
  after(async () => {
    await Promise.all(callbacks.map(one => one.close()));
    await system.stop();
  });

  const callback = async (reply: 200 | 503): Promise<Callback> => {
    const started = await startCallback({ reply });
    callbacks.push(started);
    return started;
  };
  const stored = async (id: string): Promise<McpListener> => {
    const found = await Webhooks(system.web.mongo).findById(id).lean<McpListener>();
    if (!found) throw new Error("no subscription");
    return found;
  };
  const failsAt = async (id: string, ms: number) =>
    noteFailure({ ...system.worker, clock: () => ms }, await stored(id), "status:503");
  const alertsOf = async (id: string) =>
    await Alerts(system.web.mongo).find({ "subject.id": id }).sort({ at_ms: 1 }).lean();
  const ofAlerts = (url: string) => subscribe(api, { name: "alert.raised", arguments: {}, url });

  it("says so in a refresh, and to its account: by a name, and not by the callback", async () => {
    const agent = await callback(503);
    const given = { name: "source.event", arguments: { source: source.id }, url: agent.url };
    const { result } = await subscribe(api, given);
    expect(result, "of a new one").not.to.have.property("deliveryStatus");
    const healthy = (await subscribe(api, given)).result.deliveryStatus;
    expect(healthy).to.deep.equal({ active: true, lastDeliveryAt: null, lastError: null });
    await fetch(source.url, { method: "POST", body: "{}" });
    const { failing, issues } = await until(async () => {
      const found = await api.expect(200, "GET", "/attention");
      return found.issues.length === 1 && found.failing.length === 1 && found;
    });
    const name = "agent: source orders";
    expect(failing[0]).to.include({ id: result.id, name });
    expect(failing[0].will_be_disabled_at_ms - failing[0].since_ms).to.equal(DAY);
    expect(issues[0]).to.include({
      listener_id: result.id,
      listener_kind: "mcp_subscription",
      listener_name: name,
    });
    const { deliveryStatus } = (await subscribe(api, given)).result;
    expect(deliveryStatus).to.include({ active: true, lastDeliveryAt: null, lastError: "http_5xx" });
    expect(Date.parse(deliveryStatus.failedSince)).to.equal(failing[0].since_ms);
    expect((await stored(result.id)).failing_since_ms, "a refresh repairs nothing").to.equal(
      failing[0].since_ms,
    );
  });

  it("has its client's name, on one line, in lists, and beside its key's", async () => {
    const agent = await callback(200);
    const delivery = { mode: "webhook", url: agent.url, secret: newSecret() };
    const params = { name: `source.${source.id}`, delivery };
    const { result } = await call(api, "events/subscribe", params, "/mcp", CLIENT);
    const shown = await api.expect(200, "GET", `/mcp_subscriptions/${result.id}`);
    expect(shown).to.include({
      client_name: "Wall display",
      name: "agent Wall display: source orders",
    });
    const { mcp_client } = await until(async () => {
      const [key] = await api.expect(200, "GET", "/api_keys");
      return key.mcp_client?.name === "Wall display" && key;
    });
    expect(mcp_client.version).to.equal("2.1");
    expect(mcp_client.last_used_at).to.be.closeTo(Date.now() / 1000, 120);
  });

  it("raises an alert, which goes to other agents and not to itself, and is disabled after a day until it is refreshed", async () => {
    const [fails, works] = [await callback(503), await callback(200)];
    const { result } = await ofAlerts(fails.url);
    await ofAlerts(works.url);
    const since = Date.now() - DAY;
    for (const after of [0, 2 * MINUTE, 4 * MINUTE, DAY / 2 + MINUTE])
      await failsAt(result.id, since + after);
    const [failing, ...others] = await alertsOf(result.id);
    expect(others, "one for an episode").to.deep.equal([]);
    expect(failing).to.include({ type: "webhook.failing", owner_id: api.userId });
    expect(failing?.message).to.match(
      /"agent Wall display: alerts" \(ms_.+ disables it until its agent subscribes/,
    );
    expect(failing?.message).not.to.contain("127.0.0.1");
    await sweep(system.worker, "alerts");
    await until(() => works.events.length === 1, { what: "the other agent is told" });
    expect(JSON.parse(works.events[0]?.raw ?? "").data.event.subject.id).to.equal(result.id);
    await failsAt(result.id, since + DAY);
    expect(await stored(result.id)).to.include({ active: false });
    expect((await alertsOf(result.id)).map(({ type }) => type)).to.deep.equal([
      "webhook.failing",
      "webhook.disabled",
    ]);
    const { disabled } = await api.expect(200, "GET", "/attention");
    expect(disabled.map(({ id }: { id: string }) => id)).to.deep.equal([result.id]);
    const { deliveryStatus } = (await ofAlerts(fails.url)).result;
    expect(deliveryStatus).to.deep.include({
      active: false,
      failedSince: new Date(since).toISOString(),
    });
    expect(await stored(result.id)).to.include({
      active: true,
      disabled_reason: null,
      failing_since_ms: null,
    });
    expect((await ofAlerts(fails.url)).result.deliveryStatus).to.include({ active: true, lastError: null });
    expect(fails.events, "none of it").to.deep.equal([]);
  });
});
