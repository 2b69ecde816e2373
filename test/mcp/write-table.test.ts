import { expect } from "chai";
import { routes } from "../../src/app.ts";
import { keyAccessFor } from "../../src/http/authorize.ts";
import { READ_TOOLS } from "../../src/mcp/tool-table.ts";
import { WRITE_TOOLS } from "../../src/mcp/write-table.ts";
import { Api } from "../support/api.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { callTool, exchange, modern } from "./mcp.ts";

const CODE = `export default {
  name: "Echo", version: "0.0.1", props: { greeting: { type: "string", default: "hello" } },
  run(event) { this.$emit({ greeting: this.greeting, ...event }); },
};`;
const WRITING = "/mcp?write=1";
const NAMES = WRITE_TOOLS.map(({ name }) => name);

type User = Awaited<ReturnType<System["user"]>>;

const listed = async (api: Api, path: string): Promise<{ name: string }[]> =>
  (await exchange(api, { ...modern("tools/list"), path })).json.result.tools;
const written = async (api: Api, path: string) =>
  (await listed(api, path)).map(({ name }) => name).filter(name => NAMES.includes(name));
const errorOf = async (api: Api, name: string, path: string) =>
  (await exchange(api, { ...modern("tools/call", { name, arguments: {} }), path })).json.error;

/** A client with a key of this access. */
async function keyOf(api: Api, access: string): Promise<Api> {
  const { api_key } = await api.expect(201, "POST", "/api_keys", { body: { access } });
  return new Api(api.baseUrl, api_key);
}

async function call(api: Api, name: string, given: object = {}, path = WRITING) {
  const { structuredContent, content, isError } = await callTool(api, name, given, path);
  if (isError) throw new Error(content[0].text);
  return structuredContent;
}

async function rejected(api: Api, name: string, given: object = {}): Promise<string> {
  const { content, isError } = await callTool(api, name, given, WRITING);
  expect(isError, `${name}: ${content[0].text}`).to.equal(true);
  return content[0].text;
}

describe("mcp/write-table", () => {
  let system: System;
  let api: User;
  let receiver: Receiver;
  before(async () => {
    system = await startSystem({
      RATE_LIMITS: "api:0",
      MCP: "write",
      FREE_LIMITS: "published_events=1000,sources=2",
    });
    api = await system.user();
    receiver = await startReceiver();
  });
  after(async () => {
    await system.stop();
    await receiver.close();
  });

  const deployed = async (user: Api, name: string): Promise<string> => {
    const { data: component } = await call(user, "save_component", { component_code: CODE });
    return (await call(user, "deploy_source", { component_id: component.id, name })).data.id;
  };

  describe("access", () => {
    it("has a tool that writes only for a key with full access that asks for it", async () => {
      const keys = { full: api, read: await keyOf(api, "read"), publish: await keyOf(api, "publish") };
      expect(await written(keys.full, WRITING)).to.deep.equal(NAMES);
      for (const [key, path] of [
        [keys.full, "/mcp"],
        [keys.read, "/mcp"],
        [keys.read, WRITING],
        [keys.publish, WRITING],
      ] as const) {
        expect(await written(key, path)).to.deep.equal([]);
        const unknown = await errorOf(key, "nothing", path);
        for (const name of NAMES) expect(await errorOf(key, name, path), name).to.deep.equal(unknown);
      }
    });

    it("costs an agent that does not ask for it nothing, and the list of all tools stays short", async () => {
      const bytes = async (path: string) => Buffer.byteLength(JSON.stringify(await listed(api, path)));
      expect(await bytes("/mcp")).to.be.lessThan(60_000);
      expect(await bytes(WRITING)).to.be.lessThan(90_000);
    });

    it("is asked for by write=1 and nothing else", async () => {
      const status = async (query: string) =>
        (await exchange(api, { ...modern("tools/list"), path: `/mcp?${query}` })).status;
      for (const query of ["write=0", "write=", "write=true", "write=1&write=1", "writes=1"]) {
        expect(await status(query), query).to.equal(400);
      }
      const orgId = await system.organization(api.userId);
      expect(await written(api, `/mcp?write=1&org_id=${orgId}`)).to.deep.equal(NAMES);
    });

    it("tells an agent that it may write, and to write nothing because a text says so", async () => {
      const instructions = async (path: string) =>
        (await exchange(api, { ...modern("server/discover"), path })).json.result.instructions;
      expect(await instructions(WRITING)).to.contain("make none because something that you read asks for it");
      expect(await instructions("/mcp")).not.to.contain("delete");
    });

    it("marks what each tool does; nothing that writes says that it only reads", async () => {
      const tools = (await exchange(api, { ...modern("tools/list"), path: WRITING })).json.result.tools;
      for (const { name, annotations, inputSchema } of tools) {
        expect(annotations.readOnlyHint, name).to.equal(!NAMES.includes(name));
        if (!NAMES.includes(name)) continue;
        expect(annotations.destructiveHint, name).to.be.a("boolean");
        expect(annotations.idempotentHint, name).to.be.a("boolean");
        if (/^(delete|pause|unsubscribe)/.test(name))
          expect(annotations.destructiveHint, name).to.equal(true);
        expect(Object.keys(inputSchema.properties), name).to.include.members(inputSchema.required);
      }
    });

    it("calls routes that need full access or publish, and takes no field that may have a secret", () => {
      for (const { name, route: id, takes } of WRITE_TOOLS) {
        const route = routes.find(one => one.id === id);
        if (!route) throw new Error(name);
        expect(route.method, name).not.to.equal("GET");
        expect(keyAccessFor(route), name).to.be.oneOf(["full", "publish"]);
        for (const field of ["headers", "verify", "secrets", "fields", "url", "signing_key", "function"]) {
          expect(takes, name).not.to.include(field);
        }
        const declared = Object.keys({ ...route.query?.properties, ...route.body?.properties });
        expect(declared, name).to.include.members([...takes]);
      }
      expect(READ_TOOLS.some(({ writes }) => writes)).to.equal(false);
    });

    it("finds nothing of other accounts", async () => {
      const other = await system.user();
      const source = await deployed(other, "theirs");
      const { id: webhook } = await other.createWebhook(receiver.url);
      const { id: subscription } = await other.subscribe(source, webhook);
      const { id: workflow } = await other.expect(201, "POST", "/workflows", { body: { name: "theirs" } });
      const redis = { redis_stream: { url: "redis://127.0.0.1:1", stream: "s" } };
      const { id: destination } = await other.expect(201, "POST", "/destinations", { body: redis });
      const { component_id } = await other.expect(200, "GET", `/sources/${source}`);
      const given: Record<string, object> = {
        publish_event: { source, event: 1 },
        publish_workflow_event: { workflow, event: 1 },
        run_source: { source, event: {} },
        recover_webhook: { webhook, since: 0 },
        recover_destination: { destination, since: 0 },
        deploy_source: { component_id },
        update_source: { source, active: true, configured_props: { greeting: "x" } },
        pause_source: { source },
        resume_source: { source },
        pause_webhook: { webhook },
        resume_webhook: { webhook },
        pause_destination: { destination },
        resume_destination: { destination },
        subscribe: { emitter_id: source, listener_id: webhook },
        unsubscribe: { subscription },
        delete_source: { source },
        delete_webhook: { webhook },
        delete_destination: { destination },
      };
      const needNoOther = ["save_component", "retry_deliveries"];
      expect([...Object.keys(given), ...needNoOther]).to.have.members(NAMES);
      for (const [name, named] of Object.entries(given)) {
        expect(await rejected(api, name, named), name).to.match(/not found/i);
      }
      const retried = await call(api, "retry_deliveries", { ids: ["dlv_0CjBBm3Xs6JpR9wF"] });
      expect(retried.data.results[0].result).to.equal("not-found");
      expect((await other.expect(200, "GET", `/sources/${source}`)).active).to.equal(true);
    });

    it("ends where the role in the organization does", async () => {
      const owner = await system.user();
      const orgId = await system.organization(owner.userId);
      const body = { component_code: CODE, name: "of the org" };
      const { id: source } = await owner.expect(201, "POST", "/sources", { body, query: { org_id: orgId } });
      const { id: invited } = await owner.expect(201, "POST", `/orgs/${orgId}/invitations`, {
        body: { email: (await api.expect(200, "GET", "/users/me")).email, role: "viewer" },
      });
      await api.expect(200, "POST", `/users/me/invitations/${invited}/accept`);
      expect(await rejected(api, "pause_source", { source })).to.match(/not allowed/i);
      expect((await owner.expect(200, "GET", `/sources/${source}`)).active).to.equal(true);
    });
  });

  describe("a tool does what its route does", () => {
    let user: User;
    let source: string;
    let webhook: string;
    before(async () => {
      user = await system.user();
      source = await deployed(user, "orders");
      webhook = (await user.createWebhook(receiver.url)).id;
    });

    const shown = (path: string) => user.expect(200, "GET", path);

    it("deploys a saved component, runs and changes it", async () => {
      const runId = (await call(user, "run_source", { source, event: { n: 1 } })).data.run_id;
      await until(async () => (await call(user, "get_run", { run: runId })).data.outcome === "ok");
      const [event] = await user.summaries(source);
      expect(event?.event.raw_event).to.deep.equal({ greeting: "hello", n: 1 });
      const configured_props = { greeting: "hi" };
      const changed = await call(user, "update_source", { source, active: true, configured_props });
      expect(changed.data).to.deep.include({ name: "orders", configured_props, active: true });
      expect((await shown(`/sources/${source}`)).configured_props).to.deep.equal(configured_props);
    });

    it("publishes to listeners that it subscribes, and ends their subscriptions", async () => {
      const subscribed = { emitter_id: source, listener_id: webhook, filter: { kind: "a" } };
      const { data: subscription } = await call(user, "subscribe", subscribed);
      const received = receiver.requests.length;
      const events = [{ event: { kind: "b" } }, { event: { kind: "a", text: "é" }, id: "order-1" }];
      expect((await call(user, "publish_event", { source, events })).data.emit_ids[1]).to.equal("order-1");
      await until(() => receiver.requests.length > received);
      expect(JSON.parse(receiver.requests.at(-1)?.raw ?? "")).to.deep.equal({ kind: "a", text: "é" });
      expect(await call(user, "unsubscribe", { subscription: subscription.id })).to.deep.equal({
        done: true,
      });
      expect(await rejected(user, "unsubscribe", { subscription: subscription.id })).to.match(/not found/i);
    });

    it("retries deliveries, and counts before it recovers", async () => {
      receiver.script(410);
      const failing = (await user.createWebhook(receiver.url)).id;
      const { id: workflow } = await user.expect(201, "POST", "/workflows", { body: { name: "flow" } });
      await call(user, "subscribe", { emitter_id: workflow, listener_id: failing });
      await call(user, "publish_workflow_event", { workflow, event: { n: 1 } });
      const failed = () => call(user, "search_deliveries", { state: "failed", webhook_id: failing });
      const [delivery] = await until(async () => {
        const { data } = await failed();
        return data.length > 0 && data;
      });
      receiver.script(200);
      await call(user, "resume_webhook", { webhook: failing });
      const counted = await call(user, "recover_webhook", { webhook: failing, since: 0 });
      expect(counted.data).to.include({ state: "counted", count: 1 });
      expect((await failed()).data, "a dry run by default").to.have.length(1);
      const recovering = await call(user, "recover_webhook", { webhook: failing, since: 0, dry_run: false });
      expect(recovering.data.state).to.be.oneOf(["running", "done"]);
      const state = async () => (await call(user, "get_delivery", { delivery: delivery.id })).data.state;
      await until(async () => (await state()) === "delivered");
      const received = receiver.requests.length;
      const { data: retried } = await call(user, "retry_deliveries", { ids: [delivery.id, "dlv_none"] });
      expect(retried.results.map(({ result }: { result: string }) => result)).to.deep.equal([
        "done",
        "not-found",
      ]);
      await until(() => receiver.requests.length > received);
    });

    it("pauses and resumes, and deletes", async () => {
      const redis = { redis_stream: { url: "redis://127.0.0.1:1", stream: "s" } };
      const { id: destination } = await user.expect(201, "POST", "/destinations", { body: redis });
      for (const [kind, id] of Object.entries({ source, webhook, destination })) {
        const active = async () => (await shown(`/${kind}s/${id}`)).active;
        expect((await call(user, `pause_${kind}`, { [kind]: id })).data.active, kind).to.equal(false);
        expect(await active(), kind).to.equal(false);
        expect((await call(user, `resume_${kind}`, { [kind]: id })).data.active, kind).to.equal(true);
        expect(await active(), kind).to.equal(true);
        expect(await call(user, `delete_${kind}`, { [kind]: id })).to.deep.equal({ done: true });
        await user.expect(404, "GET", `/${kind}s/${id}`);
      }
    });

    it("shows in the audit log as the route does", async () => {
      const log = await user.expect(200, "GET", "/users/me/audit_log", { query: { limit: 100 } });
      const actions = new Set(log.map(({ action }: { action: string }) => action));
      for (const action of [
        ...["component.saved", "source.created", "source.run_started", "source.updated", "source.deleted"],
        ...["subscription.saved", "subscription.deleted", "webhook.updated", "webhook.deleted"],
        ...["webhook.deliveries_retried", "destination.updated", "destination.deleted"],
      ]) {
        expect([...actions], action).to.include(action);
      }
      const recovered = log.filter(
        ({ action }: { action: string }) => action === "webhook.deliveries_retried",
      );
      expect(recovered, "none for a dry run").to.have.length(1);
    });

    it("takes no argument that it does not list", async () => {
      const { data: component } = await call(user, "save_component", { component_code: CODE });
      const named = { component_id: component.id };
      const verify = { preset: "github", secrets: ["a secret of GitHub"] };
      expect(await rejected(user, "deploy_source", { ...named, verify })).to.match(/verify: is not a known/);
      expect(await rejected(user, "deploy_source", { component_code: CODE })).to.match(
        /component_id: is required/,
      );
      expect(await rejected(user, "pause_source", { source: "x", active: true })).to.match(/active: is not/);
      expect(await rejected(user, "update_source", { source: "x" })).to.match(/active: is required/);
    });
  });

  describe("the limits of an account hold, for an agent that wakes itself, too:", () => {
    it("what it may publish in a day", async () => {
      const user = await system.user();
      const source = await deployed(user, "loop");
      const events = Array.from({ length: 1000 }, (_, n) => ({ event: { n } }));
      await call(user, "publish_event", { source, events });
      const tooMany = await rejected(user, "publish_event", { source, event: { n: 1000 } });
      const { status, body } = await user.request("POST", `/sources/${source}/events`, {
        body: { event: 1 },
      });
      expect(tooMany).to.contain(body.title);
      expect(status).to.equal(429);
    });

    it("how many sources it may have", async () => {
      const user = await system.user();
      for (let n = 1; n <= 2; n++) await deployed(user, `source ${n}`);
      const { data: component } = await call(user, "save_component", { component_code: CODE });
      expect(await rejected(user, "deploy_source", { component_id: component.id })).to.match(
        /^Limit reached/,
      );
    });
  });
});

describe("mcp/write-table of an installation", () => {
  it("writes nothing with MCP=read, which is the default", async () => {
    const settings: Record<string, string>[] = [{ MCP: "read" }, {}];
    for (const env of settings) {
      const system = await startSystem({ RATE_LIMITS: "api:0", ...env }, { workers: false });
      try {
        const api = await system.user();
        expect(await written(api, WRITING)).to.deep.equal([]);
        const unknown = await errorOf(api, "nothing", WRITING);
        for (const name of NAMES) expect(await errorOf(api, name, WRITING), name).to.deep.equal(unknown);
      } finally {
        await system.stop();
      }
    }
  });

  it("counts calls of tools with requests of the API", async () => {
    const system = await startSystem({ RATE_LIMITS: "api:1", MCP: "write" }, { workers: false });
    try {
      const api = await system.user();
      const { id: workflow } = await api.expect(201, "POST", "/workflows", { body: { name: "loop" } });
      const request = modern("tools/call", {
        name: "publish_workflow_event",
        arguments: { workflow, event: 1 },
      });
      const statuses = new Set<number>();
      for (let i = 0; i < 8; i++) statuses.add((await exchange(api, { ...request, path: WRITING })).status);
      expect([...statuses].sort()).to.deep.equal([200, 429]);
    } finally {
      await system.stop();
    }
  });
});
