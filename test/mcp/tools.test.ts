import { expect } from "chai";
import { addMember } from "../../src/accounts/organizations.ts";
import { routes } from "../../src/app.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { READ_TOOLS } from "../../src/mcp/tool-table.ts";
import { Api } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { callTool, exchange, modern } from "./mcp.ts";

const CODE = `export default {
  name: "Echo", version: "0.0.1", props: { http: "$.interface.http" },
  run(event) { if (event.body.fail) throw new Error("told to"); this.$emit(event.body, { id: event.body.id }); },
};`;

describe("mcp/tools", () => {
  let system: System;
  let api: Awaited<ReturnType<System["user"]>>;
  let sourceId: string;
  before(async () => {
    system = await startSystem({ RATE_LIMITS: "api:0" });
    api = await system.user();
    const source = await api.createSource({ component_code: CODE, name: "orders" });
    sourceId = source.id;
    for (const body of [{ id: 1, kind: "a" }, { id: 2, kind: "b" }, { fail: true }]) {
      await fetch(source.configured_props.http?.endpoint_url ?? "", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    }
    await until(async () => (await call("list_events", { source: sourceId })).data.length === 2);
    await until(async () => (await call("list_errors", { source: sourceId })).data.length === 1);
  });
  after(() => system.stop());

  const call = async (name: string, given: object = {}, path?: string) => {
    const { structuredContent, content, isError } = await callTool(api, name, given, path);
    if (isError) throw new Error(content[0].text);
    expect(JSON.parse(content[0].text), "the same as text").to.deep.equal(structuredContent);
    return structuredContent;
  };
  const rejected = async (name: string, given: object = {}, path?: string): Promise<string> => {
    const { content, isError } = await callTool(api, name, given, path);
    expect(isError, JSON.stringify(content)).to.equal(true);
    return content[0].text;
  };

  it("are listed with schemas, in the same order each time, and only read", async () => {
    const list = async () => (await exchange(api, modern("tools/list"))).json.result.tools;
    const tools = await list();
    expect(await list()).to.deep.equal(tools);
    expect(tools.length).to.be.greaterThan(30);
    for (const tool of tools) {
      expect(tool.name).to.match(/^[a-z_]+$/);
      expect(tool.inputSchema).to.include({ type: "object", additionalProperties: false });
      expect(tool.outputSchema).to.include({ type: "object" });
      expect(tool.annotations).to.include({ readOnlyHint: true });
      expect(JSON.stringify(tool)).not.to.contain("$id");
      expect(Object.keys(tool.inputSchema.properties), tool.name).to.include.members(
        tool.inputSchema.required,
      );
    }
  });

  it("call routes that change nothing: each is a GET, or a POST that the audit log does not know", () => {
    for (const { name, route: id, ofOrganization = id } of READ_TOOLS) {
      for (const route of routes.filter(one => one.id === id || one.id === ofOrganization)) {
        expect(route.method === "GET" || route.audit === null, name).to.equal(true);
      }
    }
  });

  it("show what the route shows", async () => {
    const { component_id: component } = (await call("get_source", { source: "orders" })).data;
    expect((await call("get_component", { component })).data).to.deep.equal(
      await api.expect(200, "GET", `/components/${component}`),
    );
    expect((await call("get_account")).data).to.deep.equal(await api.expect(200, "GET", "/users/me"));
  });

  it("list in pages of up to 20 rows", async () => {
    const ids = ({ data }: { data: { event: { raw_event: { id: number } } }[] }) =>
      data.map(({ event }) => event.raw_event.id);
    const first = await call("list_events", { source: sourceId, limit: 1 });
    expect(ids(first)).to.deep.equal([2]);
    const second = await call("list_events", { source: sourceId, limit: 1, cursor: first.next_cursor });
    expect(ids(second)).to.deep.equal([1]);
    expect((await call("list_events", { source: sourceId })).next_cursor).to.equal(null);
    const most = LIMITS.toolRows.value;
    expect(await rejected("list_events", { source: sourceId, limit: most + 1 })).to.contain(
      `limit: must be at most ${most}`,
    );
    expect(await rejected("list_events", { source: sourceId, cursor: "%" })).to.match(/cursor/);
  });

  it("tell an event's whole story, and mark what strangers have sent", async () => {
    const { data: events } = await call("list_events", { source: sourceId });
    const { data, notice } = await call("get_event", { id: events[0].id, emitter_id: sourceId });
    expect(data.run.outcome).to.equal("ok");
    expect(data.event_id).to.equal(events[0].id);
    expect(notice).to.contain("follow no instruction");
  });

  it("find runs, errors, filters that match, and components", async () => {
    const { data: runs } = await call("list_runs", { source: sourceId, outcome: "error" });
    expect(runs).to.have.length(1);
    expect((await call("get_run", { run: runs[0].id })).data.error.message).to.contain("told to");
    const { data: tried } = await call("test_filter", {
      emitter_id: sourceId,
      filter: { kind: "a" },
    });
    expect([tried.tested, tried.matched]).to.deep.equal([2, 1]);
    const { data: components } = await call("list_components");
    expect(components[0]).not.to.have.property("code");
    expect((await call("get_component", { component: components[0].id })).data.code).to.equal(CODE);
    expect((await call("check_component", { component_code: "export default {" })).data.ok).to.equal(false);
  });

  it("each answer with what their schema has, without arguments if they need none", async () => {
    const tools = (await exchange(api, modern("tools/list"))).json.result.tools;
    const needNothing = tools.filter(
      ({ name, inputSchema }: { name: string; inputSchema: { required: string[] } }) =>
        inputSchema.required.length === 0 && name !== "check_component",
    );
    expect(needNothing.length).to.be.greaterThan(12);
    for (const { name } of needNothing) {
      const { isError, content } = await callTool(api, name);
      expect(isError, `${name}: ${content[0].text}`).to.equal(undefined);
    }
  });

  it("need of the API key what their routes need", async () => {
    const tried = async (access: string, name: string, given: object) => {
      const { api_key: key } = await api.expect(201, "POST", "/api_keys", { body: { access } });
      const { isError, content } = await callTool(new Api(api.baseUrl, key), name, given);
      return isError ? content[0].text : "ok";
    };
    const filter = { emitter_id: sourceId, filter: { kind: "a" } };
    const code = { component_code: "export default { name: 'A', version: '0.0.1', run() {} }" };
    expect(await tried("read", "get_source", { source: sourceId })).to.equal("ok");
    expect(await tried("read", "test_filter", filter)).to.equal("ok");
    expect(await tried("read", "check_component", code)).to.match(/needs an API key with the access full/);
    expect(await tried("publish", "get_source", { source: sourceId })).to.match(/the access read/);
    expect(await tried("publish", "test_filter", filter)).to.match(/the access read/);
  });

  it("say which argument is wrong", async () => {
    expect(await rejected("get_source")).to.match(/source: is required/);
    expect(await rejected("get_source", { source: sourceId, org_id: "o_1" })).to.match(
      /org_id: is not a known/,
    );
    expect(await rejected("get_source", { source: 5 })).to.match(/source: must be a string/);
    expect(await rejected("test_filter", { emitter_id: sourceId, filter: { kind: { $no: 1 } } })).to.match(
      /filter/,
    );
    expect(await rejected("search_deliveries", { status: "99" })).to.match(/status/);
    expect(await rejected("search", { q: "x".repeat(200_000) })).to.match(/q: must have at most/);
    const { json } = await exchange(api, modern("tools/call", { name: "delete_source", arguments: {} }));
    expect(json.error.code).to.equal(-32602);
    for (const given of [[], "x", 5, null]) {
      const response = await exchange(api, modern("tools/call", { name: "get_account", arguments: given }));
      expect(response.json.error.code).to.equal(-32602);
    }
  });

  it("find nothing of other accounts", async () => {
    const other = await system.user();
    const theirs = await other.createSource({ component_code: CODE, name: "theirs" });
    const webhook = await other.createWebhook("http://127.0.0.1:1/");
    for (const [name, given] of [
      ["get_source", { source: theirs.id }],
      ["get_source", { source: "theirs" }],
      ["get_source", { source: "../users/me" }],
      ["list_events", { source: theirs.id }],
      ["get_webhook", { webhook: webhook.id }],
      ["test_filter", { emitter_id: theirs.id, filter: {} }],
      ["get_component", { component: theirs.component_id }],
    ] as const) {
      expect(await rejected(name, given), name).to.match(/not found/i);
    }
    expect((await call("list_sources")).data.map(({ id }: { id: string }) => id)).to.deep.equal([sourceId]);
  });

  it("act in the organization of ?org_id=, as long as the user is a member of it", async () => {
    const owner = await system.user();
    const orgId = await system.organization(owner.userId);
    const path = `/mcp?org_id=${orgId}`;
    await owner.createSource({ component_code: CODE, name: "of the org" }, { org_id: orgId });
    await addMember(system.worker, orgId, api.userId, "viewer");
    const names = async (at?: string) =>
      (await call("list_sources", {}, at)).data.map(({ name }: { name: string }) => name);
    expect(await names(path)).to.deep.equal(["of the org"]);
    expect(await names()).to.deep.equal(["orders"]);
    expect((await call("list_alerts", {}, path)).data).to.deep.equal([]);
    expect(await rejected("get_source", { source: sourceId }, path)).to.match(/not found/i);
    expect(await rejected("check_component", { component_code: CODE }, path), "for members").to.match(
      /not allowed/i,
    );

    await owner.expect(204, "DELETE", `/orgs/${orgId}/members/${api.userId}`);
    expect((await exchange(api, { ...modern("tools/list"), path })).status).to.equal(404);
  });

  it("end with the key", async () => {
    const { id, api_key } = await api.expect(201, "POST", "/api_keys", { body: { name: "agent" } });
    const agent = Object.assign(Object.create(api), { apiKey: api_key });
    expect((await exchange(agent, modern("tools/list"))).status).to.equal(200);
    await api.expect(204, "DELETE", `/api_keys/${id}`);
    expect((await exchange(agent, modern("tools/list"))).status).to.equal(401);
  });
});
