import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "chai";
import { countAll } from "../../../src/accounts/limits.ts";
import { newId, newToken } from "../../../src/lib/ids.ts";
import { LIMITS } from "../../../src/limits/catalogue.ts";
import { CODES } from "../../../src/mcp/protocol.ts";
import { Memberships } from "../../../src/models/organization.ts";
import { type Source, Sources } from "../../../src/models/source.ts";
import { Webhooks } from "../../../src/models/webhook.ts";
import { read } from "../../docs/repository.ts";
import { Api } from "../../support/api.ts";
import { sweep } from "../../support/sweep.ts";
import { type System, startSystem } from "../../support/system.ts";
import { until } from "../../support/until.ts";
import { type Callback, call, newSecret, startCallback, subscribe, unsubscribe, verified } from "./agent.ts";

const CODE = `export default { name: "Orders", version: "0.0.1", props: { http: "$.interface.http" },
  run({ body }) { this.$emit(body); } };`;
const DAY_MS = 86_400_000;

/** The Events extension over its whole way: from a source's event to an agent's callback. */
describe("mcp/events", () => {
  let system: System;
  let api: Awaited<ReturnType<System["user"]>>;
  let source: { id: string; url: string };
  const callbacks: Callback[] = [];

  const callback = async (options?: Parameters<typeof startCallback>[0]): Promise<Callback> => {
    const started = await startCallback(options);
    callbacks.push(started);
    return started;
  };
  const newSource = async (of = api) => {
    const { id, configured_props } = await of.createSource({ component_code: CODE });
    return { id, url: configured_props.http?.endpoint_url ?? "" };
  };
  const emit = async (event: unknown, url = source.url) => {
    const body = JSON.stringify(event);
    const { status } = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    expect(status).to.equal(200);
  };
  const notified = (by: Callback, count: number) =>
    until(() => by.events.length >= count, { what: `${count} events have come` });

  before(async () => {
    // Nothing is swept but by a test: what is not sent is not sent since an attempt asks.
    system = await startSystem({ RATE_LIMITS: "api:0", SWEEP_EVERY: "1h" });
    api = await system.user();
    source = await newSource();
  });
  after(async () => {
    await Promise.all(callbacks.map(one => one.close()));
    await system.stop();
  });

  it("says that there are events, where the extension and where hosts look", async () => {
    const { result } = await call(api, "server/discover");
    expect(result.capabilities).to.have.property("events");
    expect(result.capabilities.extensions).to.have.property("io.modelcontextprotocol/events");
  });

  it("lists the fixed types, and one for each active source", async () => {
    const { result } = await call(api, "events/list");
    const names = result.events.map(({ name }: { name: string }) => name);
    expect(names.slice(0, 4)).to.deep.equal([
      "source.event",
      "source.error",
      "workflow.event",
      "alert.raised",
    ]);
    expect(names).to.include(`source.${source.id}`);
    for (const event of result.events) {
      expect(event.delivery).to.deep.equal(["webhook"]);
      expect(event.inputSchema.type).to.equal("object");
      expect(event.payloadSchema.type).to.equal("object");
    }
  });

  it("lists types of so many sources, and takes one of any other", async () => {
    const user = await system.user();
    const { id } = await newSource(user);
    const row = await Sources(system.web.mongo).findById(id).lean<Source>();
    const copies = Array.from({ length: LIMITS.mcpEventTypes.value }, (_, n) => ({
      ...(row as Source),
      _id: newId("dc"),
      name_slug: `copy-${n}`,
      endpoint: newToken(),
    }));
    await Sources(system.web.mongo).insertMany(copies);
    const { result } = await call(user, "events/list");
    const ofSources = result.events.slice(4).map(({ name }: { name: string }) => name);
    expect(ofSources).to.have.length(LIMITS.mcpEventTypes.value);
    expect(ofSources).not.to.include(`source.${id}`);
    const agent = await callback();
    expect((await subscribe(user, { name: `source.${id}`, url: agent.url })).result).to.have.property("id");
  });

  it("wakes an agent with what matches, signed with its secret, and not with the rest", async () => {
    const agent = await callback();
    const secret = newSecret();
    const { result } = await subscribe(api, {
      name: "source.event",
      arguments: { source: source.id, filter: { kind: "order" } },
      url: agent.url,
      secret,
    });
    expect(result.id).to.match(/^ms_/);
    expect(result).to.include({ cursor: null, truncated: false });
    expect(Date.parse(result.refreshBefore)).to.be.closeTo(Date.now() + DAY_MS, 60_000);
    const [challenge] = agent.challenges;
    expect(verified(secret, challenge as never)).to.have.property("type", "verification");
    expect(challenge?.headers["x-mcp-subscription-id"]).to.equal(result.id);
    expect(challenge?.path).to.contain("?mcp_event_subscription=1");
    await emit({ kind: "refund", n: 1 });
    await emit({ kind: "order", n: 2 });
    await notified(agent, 1);
    const [event] = agent.events;
    const body = verified(secret, event as never);
    expect(body).to.deep.include({ name: "source.event", cursor: null });
    expect(body.data).to.deep.include({ emitter_id: source.id, channel: "", event: { kind: "order", n: 2 } });
    expect(body.eventId).to.equal(`${source.id}:${body.data.event_id}`);
    expect(event?.headers["webhook-id"]).to.equal(body.eventId);
    expect(event?.headers["x-mcp-subscription-id"]).to.equal(result.id);
    expect(event?.headers).not.to.have.property("x-pd-signature");
    await emit({ kind: "order", n: 3 });
    await notified(agent, 2);
    expect(JSON.parse(agent.events[1]?.raw ?? "").data.event.n).to.equal(3);
    await unsubscribe(api, {
      name: "source.event",
      arguments: { source: source.id, filter: { kind: "order" } },
      url: agent.url,
    });
  });

  it("is notified as docs/agents.md subscribes it, by hand", async () => {
    const agent = await callback();
    const [, walk = ""] = /<!-- walk -->\n```sh\n([\s\S]+?)```/.exec(read("docs/agents.md")) ?? [];
    expect(walk.trim().split("\n")).to.have.length(5);
    const secret = newSecret();
    const env = {
      ...process.env,
      ...{ SERVER: new URL(api.baseUrl).origin, HEADWATER_API_KEY: api.apiKey },
      ...{ SOURCE: source.id, CALLBACK: agent.url, SECRET: secret },
    };
    const { stdout } = await promisify(execFile)("bash", ["-ec", walk], { env });
    expect(JSON.parse(stdout).result.id).to.match(/^ms_/);
    await emit({ kind: "refund" });
    await emit({ kind: "order", n: 7 });
    await notified(agent, 1);
    expect(verified(secret, agent.events[0] as never).data.event).to.deep.equal({ kind: "order", n: 7 });
    const given = { source: source.id, filter: { kind: "order" } };
    await unsubscribe(api, { name: "source.event", arguments: given, url: agent.url });
  });

  const wanted = (url: string, more: object = {}) => ({
    name: "source.event",
    arguments: { source: source.id },
    url,
    ...more,
  });

  it("makes one subscription of the same request, and of concurrent ones", async () => {
    const agent = await callback();
    const secret = newSecret();
    const all = await Promise.all([1, 2, 3].map(() => subscribe(api, wanted(agent.url, { secret }))));
    const ids = new Set(all.map(({ result }) => result.id));
    expect(ids.size).to.equal(1);
    const asked = agent.challenges.length;
    const again = await subscribe(api, wanted(agent.url, { secret }));
    expect(ids).to.include(again.result.id);
    expect(agent.challenges, "it has responded today").to.have.length(asked);
    await emit({ n: 1 });
    await emit({ n: 2 });
    await notified(agent, 2);
    const numbers = agent.events.map(({ raw }) => JSON.parse(raw).data.event.n);
    expect(numbers.sort()).to.deep.equal([1, 2]);
    await unsubscribe(api, wanted(agent.url));
  });

  it("signs with both secrets once a refresh has replaced one", async () => {
    const agent = await callback();
    const [before, after] = [newSecret(), newSecret()];
    const first = await subscribe(api, wanted(agent.url, { secret: before, more: { ttlMs: 1 } }));
    expect(Date.parse(first.result.refreshBefore), "the least").to.be.closeTo(Date.now() + 300_000, 60_000);
    const second = await subscribe(api, wanted(agent.url, { secret: after, more: { ttlMs: null } }));
    expect(second.result.id).to.equal(first.result.id);
    expect(Date.parse(second.result.refreshBefore)).to.be.closeTo(Date.now() + 7 * DAY_MS, 60_000);
    await emit({ n: 1 });
    await notified(agent, 1);
    const [event] = agent.events;
    for (const secret of [before, after]) verified(secret, event as never);
    expect(() => verified(newSecret(), event as never)).to.throw();
    await unsubscribe(api, wanted(agent.url));
  });

  it("sends nothing more once it is unsubscribed, and says so to nobody", async () => {
    const [gone, stays] = [await callback(), await callback()];
    for (const { url } of [gone, stays]) await subscribe(api, wanted(url));
    expect((await unsubscribe(api, wanted(gone.url))).result).to.have.property("resultType");
    expect((await unsubscribe(api, wanted(gone.url))).result, "a repeated one").to.have.property(
      "resultType",
    );
    await emit({ n: 1 });
    await notified(stays, 1);
    expect(gone.events).to.have.length(0);
    await unsubscribe(api, wanted(stays.url));
  });

  it("sends nothing after the end, and clears it away", async () => {
    const [late, stays] = [await callback(), await callback()];
    const { result } = await subscribe(api, wanted(late.url));
    await subscribe(api, wanted(stays.url));
    await Webhooks(system.web.mongo).updateOne(
      { _id: result.id },
      { $set: { "mcp.expires_at_ms": Date.now() - 1 } },
    );
    await system.web.routing.invalidate([api.userId]);
    await emit({ n: 1 });
    await notified(stays, 1);
    expect(late.events).to.have.length(0);
    await sweep(system.worker, "mcp_subscriptions");
    expect(await Webhooks(system.web.mongo).exists({ _id: result.id })).to.equal(null);
    expect(late.controls, "an end that was to come is told to nobody").to.have.length(0);
    await unsubscribe(api, wanted(stays.url));
  });

  it("ends with the key that subscribed, and says so to the callback once", async () => {
    const [agent, stays] = [await callback(), await callback()];
    const { id, api_key } = await api.expect(201, "POST", "/api_keys", { body: { name: "agent" } });
    const ofKey = new Api(api.baseUrl, api_key);
    const secret = newSecret();
    await subscribe(ofKey, wanted(agent.url, { secret }));
    await subscribe(api, wanted(stays.url));
    await api.expect(204, "DELETE", `/api_keys/${id}`);
    await emit({ n: 1 });
    await notified(stays, 1);
    expect(agent.events).to.have.length(0);
    await sweep(system.worker, "mcp_subscriptions");
    await until(() => agent.controls.length > 0, { what: "it is told" });
    expect(verified(secret, agent.controls[0] as never)).to.deep.include({ type: "terminated" });
    await sweep(system.worker, "mcp_subscriptions");
    expect(agent.controls).to.have.length(1);
    await unsubscribe(api, wanted(stays.url));
  });

  it("ends with what its user may do in the organization", async () => {
    const [orgId, member] = [await system.organization(api.userId), await system.user()];
    const at = { org_id: orgId, user_id: member.userId, created_at: 1 };
    await Memberships(system.web.mongo).insertOne({ _id: `${orgId}-${member.userId}`, ...at });
    const { id, configured_props } = await api.createSource({ component_code: CODE }, { org_id: orgId });
    const [agent, stays] = [await callback(), await callback()];
    const given = (url: string) => ({ name: `source.${id}`, url, path: `/mcp?org_id=${orgId}` });
    expect((await subscribe(member, given(agent.url))).result).to.have.property("id");
    await subscribe(api, given(stays.url));
    await api.expect(200, "PUT", `/orgs/${orgId}/members/${member.userId}`, { body: { role: "viewer" } });
    await emit({ n: 1 }, configured_props.http?.endpoint_url);
    await notified(stays, 1);
    expect(agent.events).to.have.length(0);
    const { error } = await subscribe(member, given(agent.url));
    expect(error?.code, "a viewer has nothing sent").to.equal(CODES.forbidden);
    await sweep(system.worker, "mcp_subscriptions");
    await until(() => agent.controls.length === 1, { what: "it is told" });
    await unsubscribe(api, given(stays.url));
  });

  for (const status of [410, 413]) {
    it(`ends the delivery with ${status}, and not the subscription`, async () => {
      const agent = await callback({
        reply: ({ raw }) => (JSON.parse(raw).data.event.n === 1 ? status : 200),
      });
      const { result } = await subscribe(api, wanted(agent.url));
      await emit({ n: 1 });
      await notified(agent, 1);
      await emit({ n: 2 });
      await notified(agent, 2);
      expect(JSON.parse(agent.events[1]?.raw ?? "").data.event.n).to.equal(2);
      const { data } = await until(async () => {
        const found = await api.request("GET", `/deliveries?webhook_id=${result.id}&state=failed`);
        return found.body.data.length === 1 && found.body;
      });
      expect(data[0].reason).to.equal("gone");
      const { active } = await api.expect(200, "GET", `/mcp_subscriptions/${result.id}`);
      expect(active).to.equal(true);
      await unsubscribe(api, wanted(agent.url));
    });
  }

  it("sends a large event without its value", async () => {
    const agent = await callback();
    await subscribe(api, wanted(agent.url));
    await emit({ text: "x".repeat(LIMITS.mcpEventBytes.value) });
    await notified(agent, 1);
    expect(JSON.parse(agent.events[0]?.raw ?? "").data).to.include({ event: null, truncated: true });
    await unsubscribe(api, wanted(agent.url));
  });

  it("shows and ends it over the REST API, with the callback's host only, and not among the webhooks", async () => {
    const agent = await callback();
    const { result } = await subscribe(api, wanted(agent.url));
    const listed = await api.request("GET", "/users/me/mcp_subscriptions");
    expect(listed.body.page_info.total_count).to.equal(1);
    const [shown] = listed.body.data;
    expect(shown).to.deep.include({
      id: result.id,
      event_type: "source.event",
      arguments: { source: source.id },
    });
    expect(shown.callback_host).to.equal(new URL(agent.url).host);
    expect(JSON.stringify(listed.body)).not.to.contain("mcp_event_subscription");
    const ofPath = { q: "mcp_event_subscription" };
    const found = await api.expect(200, "GET", "/subscriptions", { query: ofPath });
    expect(found, "found by the callback's path").to.deep.equal([]);
    for (const things of ["webhooks", "destinations"]) {
      const { body } = await api.request("GET", `/users/me/${things}`);
      expect(body.page_info.total_count, things).to.equal(0);
      await api.expect(404, "GET", `/${things}/${result.id}`);
    }
    expect((await countAll(system.web, api.userId)).webhooks).to.equal(0);
    const query = { emitter_id: source.id, listener_id: result.id, event_name: "other" };
    await api.expect(400, "POST", "/subscriptions", { query });
    const other = await system.user();
    await other.expect(404, "GET", `/mcp_subscriptions/${result.id}`);
    await other.expect(404, "DELETE", `/mcp_subscriptions/${result.id}`);
    await api.expect(204, "DELETE", `/mcp_subscriptions/${result.id}`);
    await api.expect(404, "GET", `/mcp_subscriptions/${result.id}`);
  });

  it("subscribes for an organization", async () => {
    const orgId = await system.organization(api.userId);
    const path = `/mcp?org_id=${orgId}`;
    const { id, configured_props } = await api.createSource({ component_code: CODE }, { org_id: orgId });
    const agent = await callback();
    const given = { name: `source.${id}`, url: agent.url, path };
    const { result } = await subscribe(api, given);
    await emit({ n: 1 }, configured_props.http?.endpoint_url);
    await notified(agent, 1);
    const { body } = await api.request("GET", `/orgs/${orgId}/mcp_subscriptions`);
    expect(body.data.map((one: { id: string }) => one.id)).to.deep.equal([result.id]);
    expect(body.data[0].org_id).to.equal(orgId);
    await unsubscribe(api, given);
  });
});
