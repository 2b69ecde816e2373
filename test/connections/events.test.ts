import { expect } from "chai";
import { setApp } from "../../src/connections/apps/apps.ts";
import { newId } from "../../src/lib/ids.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { Connections } from "../../src/models/connection.ts";
import { RunRecords } from "../../src/models/run.ts";
import { type Source, Sources } from "../../src/models/source.ts";
import type { Api, Problem, SourceView } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

/** What components for apps look like: the event is the app's own, and its names may depend on props. */
const codeOf = (eventNames: string, more = "") => `
const chat = { type: "app", app: "chat", methods: { prefix() { return this.$auth.token ? "message" : "none"; } } };
export default { name: "Messages", version: "0.0.1",
  props: {
    chat,
    rooms: { type: "string[]", optional: true },
    events: { type: "$.interface.apphook", appProp: "chat", ${eventNames} },
  },
  ${more}
  run(event) { this.$emit(event, { summary: this.rooms?.join() ?? "all" }); } };`;
const NAMED = codeOf(`eventNames: ["message"]`);
const ALL = codeOf("");
const BY_ROOM = codeOf(`async eventNames() {
  if (this.rooms?.includes("throw")) throw new Error("no such room");
  if (this.rooms?.includes("many")) return Array.from({ length: ${LIMITS.eventNames.value + 1} }, (_, n) => n);
  return (this.rooms ?? []).map(room => this.chat.prefix() + ":" + room);
}`);
const RULES = {
  names: ["{{body.event.type}}", "{{body.event.type}}:{{body.event.channel}}"],
  event: "{{body.event}}",
  challenge: "{{body.challenge}}",
};

describe("the events of an app", () => {
  let system: System;
  let api: Api & { userId: string };
  before(async () => {
    system = await startSystem();
    api = await system.user({ plan: "paid" });
  });
  after(() => system?.stop());

  const connect = async (events: object | null = RULES, owner: Api = api): Promise<string> => {
    const body = { app: "chat", fields: { token: "t" }, ...(events && { events }) };
    return (await owner.expect(201, "POST", "/connections", { body })).id;
  };
  const deploy = (component_code: string, authProvisionId: string, more: object = {}): Promise<SourceView> =>
    api.createSource({ component_code, configured_props: { chat: { authProvisionId }, ...more } });
  const urlOf = async (id: string): Promise<string> =>
    (await api.expect(200, "GET", `/connections/${id}`)).endpoint_url;
  const post = async (url: string, body: unknown, init: RequestInit = {}) => {
    const headers = { "content-type": "application/json" };
    const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body), ...init });
    const text = await response.text();
    return {
      status: response.status,
      text,
      runs: response.ok && text.startsWith("{") ? JSON.parse(text).run_ids : null,
    };
  };
  const message = (text: string, channel = "C1") => ({ event: { type: "message", channel, text } });
  const textsOf = async (source: SourceView, count: number): Promise<string[]> => {
    const rows = await until(async () => {
      const found = await api.summaries(source.id);
      return found.length >= count && found;
    });
    return rows.map(row => row.event.raw_event.text).sort();
  };

  it("run each source that listens to one of their names, once, and those that listen to all", async () => {
    const id = await connect();
    expect(await urlOf(id), "nothing listens").to.equal(null);
    const [named, all] = [await deploy(NAMED, id), await deploy(ALL, id)];
    const room = await deploy(BY_ROOM, id, { rooms: ["C1", "C2"] });
    const url = await urlOf(id);
    expect(named.configured_props.events).to.deep.equal({ endpoint_url: url, event_names: ["message"] });
    expect(all.configured_props.events).to.deep.equal({ endpoint_url: url, event_names: null });
    expect(room.configured_props.events).to.deep.equal({
      endpoint_url: url,
      event_names: ["message:C1", "message:C2"],
    });
    const sent = await post(url, message("one"));
    expect(sent.status).to.equal(200);
    expect(sent.runs).to.have.length(3);
    expect((await post(url, message("two", "C3"))).runs).to.have.length(2);
    expect((await post(url, { event: { type: "reaction", text: "three" } })).runs).to.have.length(1);
    expect(await textsOf(all, 3)).to.deep.equal(["one", "three", "two"]);
    expect(await textsOf(named, 2)).to.deep.equal(["one", "two"]);
    expect(await textsOf(room, 1)).to.deep.equal(["one"]);
    await until(async () => {
      const runs = RunRecords(system.worker.mongo);
      return (await runs.countDocuments({ _id: { $in: sent.runs } })) === 3;
    });
    const shown = { configured_props: named.configured_props };
    await api.expect(200, "PUT", `/sources/${named.id}`, { body: shown });
  });

  it("reach no source that is disabled, deleted or of another account, and a source again that is enabled", async () => {
    const id = await connect();
    const [source, gone] = [await deploy(NAMED, id), await deploy(NAMED, id)];
    const url = await urlOf(id);
    expect((await post(url, message("both"))).runs).to.have.length(2);
    await api.expect(200, "PUT", `/sources/${source.id}`, { body: { active: false } });
    await api.request("DELETE", `/sources/${gone.id}`);
    expect(await post(url, message("none"))).to.include({ status: 200, text: '{"run_ids":[]}' });
    await api.expect(200, "PUT", `/sources/${source.id}`, { body: { active: true } });
    expect((await post(url, message("again"))).runs).to.have.length(1);
    const stranger = await system.user();
    for (const authProvisionId of [id, newId("apn")]) {
      const body = { component_code: NAMED, configured_props: { chat: { authProvisionId } } };
      const { status, body: problem } = await stranger.request<Problem>("POST", "/sources", { body });
      expect(status).to.equal(400);
      expect(problem.errors?.[0]?.path).to.equal("configured_props.chat.authProvisionId");
    }
    expect((await stranger.request("GET", `/connections/${id}`)).status).to.equal(404);
    for (const wrong of [`${url.slice(0, -1)}_`, url.replace(id, newId("apn")), url.replace(`${id}-`, "")]) {
      expect((await post(wrong, message("x"))).status, wrong).to.equal(404);
    }
    await api.request("DELETE", `/connections/${id}`, { query: { force: "true" } });
    expect((await post(url, message("deleted"))).status).to.equal(404);
  });

  it("arrive at a new address once it is replaced, and for a day at the old one, but not at one before", async () => {
    const id = await connect();
    expect((await api.request("POST", `/connections/${id}/rotate_endpoint`)).status, "has none").to.equal(
      409,
    );
    const source = await deploy(NAMED, id);
    const first = await urlOf(id);
    const stranger = await system.user();
    expect((await stranger.request("POST", `/connections/${id}/rotate_endpoint`)).status).to.equal(404);
    const { endpoint_url: second } = await api.expect(200, "POST", `/connections/${id}/rotate_endpoint`);
    expect(second).not.to.equal(first);
    const shown = await api.expect(200, "GET", `/sources/${source.id}`);
    expect(shown.configured_props.events.endpoint_url).to.equal(second);
    for (const url of [first, second]) expect((await post(url, message("x"))).runs, url).to.have.length(1);
    const { endpoint_url: third } = await api.expect(200, "POST", `/connections/${id}/rotate_endpoint`);
    expect((await post(first, message("x"))).status, "two before").to.equal(404);
    for (const url of [second, third]) expect((await post(url, message("x"))).runs, url).to.have.length(1);
    await Connections(system.web.mongo).updateOne(
      { _id: id },
      { $set: { "old_endpoint.until_ms": Date.now() } },
    );
    await system.web.routing.invalidate([api.userId]);
    expect((await post(second, message("x"))).status, "after a day").to.equal(404);
    expect((await post(third, message("x"))).runs).to.have.length(1);
  });

  it("are not promised to a source that they would not reach", async () => {
    const unnamed = await connect(null);
    const own = { chat: { $auth: { token: "t" } } };
    const cases: [string, object, string, RegExp][] = [
      [NAMED, own, "configured_props.chat", /must be a connection/],
      [NAMED, {}, "configured_props.chat", /must be a connection/],
      [
        NAMED,
        { chat: { authProvisionId: unnamed } },
        "configured_props.events",
        /names its events is not known/,
      ],
      [NAMED.replace('appProp: "chat"', 'appProp: "none"'), {}, "props.events.appProp", /prop of type app/],
      [
        BY_ROOM,
        { chat: { authProvisionId: unnamed }, rooms: ["throw"] },
        "props.events.eventNames",
        /no such room/,
      ],
      [
        BY_ROOM,
        { chat: { authProvisionId: unnamed }, rooms: ["many"] },
        "props.events.eventNames",
        /at most 100 names/,
      ],
    ];
    for (const [component_code, configured_props, path, why] of cases) {
      const response = await api.request<Problem>("POST", "/sources", {
        body: { component_code, configured_props },
      });
      expect(response.status, path).to.equal(400);
      expect(response.body.errors?.[0]).to.include({ path });
      expect(response.body.errors?.[0]?.message).to.match(why);
    }
    const source = await deploy(ALL, unnamed);
    expect((await post(await urlOf(unnamed), { type: "any" })).runs).to.have.length(1);
    await Sources(system.worker.mongo).updateOne({ _id: source.id }, { $unset: { app_events: 1 } });
    const before = { body: { active: false, name: "of an earlier release" } };
    await api.expect(200, "PUT", `/sources/${source.id}`, before);
  });

  it("are read as the operator said, unless it was said for the connection", async () => {
    await setApp(system.worker, {
      slug: "chat",
      authorizeUrl: "https://chat.example/authorize",
      tokenUrl: "https://chat.example/token",
      clientId: "client",
      tokenAuth: "none",
      events: { names: ["{{headers.x-event}}"] },
    });
    const apps = await api.expect(200, "GET", "/apps");
    expect(apps[0]).to.deep.include({ slug: "chat", events: { names: ["{{headers.x-event}}"] } });
    const id = await connect(null);
    await deploy(NAMED, id);
    const url = await urlOf(id);
    const headers = { "content-type": "application/json", "x-event": "message" };
    expect((await post(url, { text: "x" }, { headers })).runs).to.have.length(1);
    expect((await post(url, message("x"))).runs).to.have.length(0);
    const own = await api.expect(200, "PUT", `/connections/${id}`, { body: { events: RULES } });
    expect(own.events).to.deep.equal(RULES);
    expect((await post(url, message("x"))).runs).to.have.length(1);
    const none = await api.expect(200, "PUT", `/connections/${id}`, { body: { events: null } });
    expect(none.events).to.equal(null);
    expect((await post(url, { text: "x" }, { headers })).runs).to.have.length(1);
    const wrong = { body: { events: { names: ["push"] } } };
    const { status, body } = await api.request<Problem>("PUT", `/connections/${id}`, wrong);
    expect(status).to.equal(400);
    expect(body.errors?.[0]?.path).to.equal("events.names[0]");
  });

  it("come with the app's own check of the endpoint, which runs nothing", async () => {
    const id = await connect();
    const source = await deploy(ALL, id);
    const url = await urlOf(id);
    const checked = await post(url, { type: "verification", challenge: "say this", event: {} });
    expect(checked).to.include({ status: 200, text: "say this" });
    const looked = await fetch(url);
    expect(await looked.json()).to.deep.equal({ run_ids: [] });
    expect((await post(url, { other: "without an event" })).runs).to.deep.equal([]);
    await post(url, message("the only one"));
    expect(await textsOf(source, 1)).to.deep.equal(["the only one"]);
  });

  it("follow the source to another connection, and to other names", async () => {
    const [first, second] = [await connect(), await connect()];
    const source = await deploy(BY_ROOM, first, { rooms: ["C1"] });
    const change = (configured_props: object) =>
      api.expect(200, "PUT", `/sources/${source.id}`, { body: { configured_props } });
    const countAt = async (id: string, channel: string) =>
      (await post(await urlOf(id), message("x", channel))).runs?.length;
    expect(await countAt(first, "C1")).to.equal(1);
    await change({ rooms: ["C2"] });
    expect(await countAt(first, "C1")).to.equal(0);
    expect(await countAt(first, "C2")).to.equal(1);
    await change({ chat: { authProvisionId: second } });
    expect(await countAt(first, "C2")).to.equal(0);
    expect(await countAt(second, "C2")).to.equal(1);
  });

  it("reach a source whose hooks were called", async () => {
    const id = await connect();
    const hooks = "hooks: { async activate() {}, async deactivate() {} },";
    const first = await deploy(ALL, id);
    const url = await urlOf(id);
    expect((await post(url, message("one"))).runs).to.have.length(1);
    await deploy(codeOf("", hooks), id);
    expect((await post(url, message("two"))).runs).to.have.length(2);
    await api.request("DELETE", `/sources/${first.id}`);
    expect((await post(url, message("three"))).runs).to.have.length(1);
  });

  it("are bounded like those of other endpoints, and by the sources that listen", async () => {
    const id = await connect();
    const source = await deploy(ALL, id);
    const url = await urlOf(id);
    const large = { event: { text: "x".repeat(LIMITS.ingressBodyBytes.value) } };
    expect((await post(url, large)).status).to.equal(413);
    const row = await Sources(system.worker.mongo).findById(source.id).lean<Source>();
    const missing = LIMITS.appEventListeners.value - 1;
    const rows = Array.from({ length: missing }, (_, n) => ({
      ...(row as Source),
      ...{ _id: newId("dc"), name_slug: `copy-${n}`, active: false },
    }));
    await Sources(system.worker.mongo).insertMany(rows);
    const body = { component_code: ALL, configured_props: { chat: { authProvisionId: id } } };
    const { status, body: problem } = await api.request<Problem>("POST", "/sources", { body });
    expect(status).to.equal(403);
    expect(problem.type).to.contain("limit-reached");
    await Sources(system.worker.mongo).deleteMany({ name_slug: /^copy-/ });
  });
});
