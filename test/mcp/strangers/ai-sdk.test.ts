import { expect } from "chai";
import { CODES, VERSIONS } from "../../../src/mcp/protocol.ts";
import { Api } from "../../support/api.ts";
import { sweep } from "../../support/sweep.ts";
import { type System, startSystem } from "../../support/system.ts";
import { until } from "../../support/until.ts";
import { newSecret } from "../events/agent.ts";
import { type AgentHost, type StoredSubscription, startAgentHost, verifiedBy } from "./agent-host.ts";
import { installedOrSkip } from "./installed.ts";

const CODE = `export default { name: "Orders", version: "0.0.1", props: { http: "$.interface.http" },
  run({ body }) { this.$emit(body); } };`;

/** The only client in a registry that has the Events extension, unchanged. */
describe("mcp, for the AI SDK,", () => {
  let folder: string;
  let system: System;
  let api: Awaited<ReturnType<System["user"]>>;
  let source: { id: string; url: string };
  let mcpUrl: string;
  let host: AgentHost | undefined;
  before(async function () {
    folder = installedOrSkip(this, "MCP_CLIENTS");
    // Nothing is swept but by a test.
    system = await startSystem({ RATE_LIMITS: "api:0", SWEEP_EVERY: "1h" });
    api = await system.user();
    const { id, configured_props } = await api.createSource({ component_code: CODE });
    source = { id, url: configured_props.http?.endpoint_url ?? "" };
    mcpUrl = new URL("/mcp", api.baseUrl).href;
  });
  afterEach(() => host?.close());
  after(() => system?.stop());

  const start = async (given: { apiKey?: string; isModern?: boolean } = {}): Promise<AgentHost> => {
    host = await startAgentHost(folder, { mcpUrl, apiKey: api.apiKey, ...given });
    return host;
  };
  const emit = async (event: object) => {
    const headers = { "content-type": "application/json" };
    const { status } = await fetch(source.url, { method: "POST", headers, body: JSON.stringify(event) });
    expect(status).to.equal(200);
  };
  const wanted = (url: string) => ({
    name: "source.event",
    arguments: { source: source.id, filter: { kind: "order" } },
    delivery: { mode: "webhook", url, allowInsecureLocalhost: true } as const,
  });
  const secretOf = async ({ store }: AgentHost, id: string) =>
    (await store.getById(id))?.delivery.secret ?? "";
  const woken = ({ events }: AgentHost, count: number) =>
    until(() => events.length >= count, { what: `${count} events have come` });

  for (const [era, isModern] of [
    ["modern", true],
    ["legacy", false],
  ] as const) {
    it(`goes the whole way of an agent, as a ${era} client`, async () => {
      const agent = await start({ isModern });
      const { client, events, requests, store } = agent;
      expect(client.initializeResult.protocolVersion).to.equal(VERSIONS[era][0]);

      const { events: types } = await client.experimental_events.list();
      expect(types.map(({ name }) => name)).to.include.members(["source.event", `source.${source.id}`]);

      const { id, refreshBefore, truncated } = await client.experimental_events.subscribe(wanted(agent.url));
      expect(Date.parse(refreshBefore ?? "")).to.be.greaterThan(Date.now());
      expect(truncated).to.equal(false);
      const [challenge] = requests;
      expect(challenge?.status, "the challenge").to.equal(200);

      await emit({ kind: "refund", n: 1 });
      await emit({ kind: "order", n: 2 });
      await woken(agent, 1);
      expect(events[0]?.name).to.equal("source.event");
      expect(events[0]?.data.event).to.deep.equal({ kind: "order", n: 2 });
      const told = await client.callTool({
        name: "get_event",
        arguments: { emitter_id: source.id, id: events[0]?.data.event_id ?? "" },
      });
      expect(JSON.stringify(told.structuredContent), "its whole story").to.contain(id);

      const before = await secretOf(agent, id);
      const [[key, row]] = [...store.rows] as [[string, StoredSubscription]];
      const after = newSecret();
      await store.update(key, { delivery: { ...row.delivery, secret: after } });
      const refreshed = await client.experimental_events.refresh({ id });
      expect(refreshed.id).to.equal(id);
      await emit({ kind: "order", n: 3 });
      await woken(agent, 2);
      const rotated = requests.at(-1) as (typeof requests)[number];
      for (const secret of [before, after]) expect(verifiedBy(secret, rotated)).to.have.property("eventId");

      await client.experimental_events.unsubscribe({ id });
      await emit({ kind: "order", n: 4 });
      const { body } = await api.request("GET", "/users/me/mcp_subscriptions");
      expect(body.data).to.deep.equal([]);
      expect(requests.filter(({ status }) => status >= 300)).to.deep.equal([]);
      expect(new Set(events.map(({ eventId }) => eventId)).size).to.equal(2);
      for (const request of requests.slice(1, -1)) verifiedBy(before, request);
    });
  }

  it("says why a callback is not accepted", async () => {
    const agent = await start();
    agent.responds.status = 404;
    const error = await agent.client.experimental_events.subscribe(wanted(agent.url)).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).to.deep.include({ code: CODES.callbackEndpoint, data: { reason: "http_4xx" } });
  });

  it("tells the host that its key was revoked, and the host forgets the subscription", async () => {
    const { id, api_key } = await api.expect(201, "POST", "/api_keys", { body: { name: "agent" } });
    const agent = await start({ apiKey: new Api(api.baseUrl, api_key).apiKey });
    await agent.client.experimental_events.subscribe(wanted(agent.url));
    await api.expect(204, "DELETE", `/api_keys/${id}`);
    await sweep(system.worker, "mcp_subscriptions");
    await until(() => agent.terminations.length === 1, { what: "it is told" });
    expect(agent.terminations[0]).to.have.nested.property("error.code", CODES.forbidden);
    await until(() => agent.store.rows.size === 0, { what: "it has forgotten" });
  });

  it("can't connect without a key", async () => {
    const error = await start({ apiKey: "hw_none" }).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    host = undefined;
    expect(error).to.have.property("statusCode", 401);
  });
});
