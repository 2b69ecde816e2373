import { expect } from "chai";
import { publishComponent } from "../../src/components/components.ts";
import { openWorld } from "./open-world.ts";
import { isIdOf, isRecent, names, rejected } from "./shapes.ts";
import { newCode, type Owner } from "./things.ts";

const TIMER = `export default { name: "Timer Source", version: "0.0.1", key: "timer-source", props: {
  timer: { type: "$.interface.timer", default: { intervalSeconds: 60 } }, city: { type: "string", optional: true },
  token: { type: "string", secret: true, optional: true }, count: { type: "integer", optional: true, min: 1, max: 9 } } };`;

const FIELDS = [
  ...[
    "id",
    "user_id",
    "component_id",
    "configured_props",
    "active",
    "created_at",
    "updated_at",
    "name",
    "name_slug",
    "dynamic_props_id",
    "description",
    "dedupe",
    "remember",
    "revision",
  ],
  ...["last_event_at", "last_success_at", "last_error_at", "verify"],
];

/** docs/rest-api.md#source and docs/rest-api.md#sources */
describe("sources", () => {
  let world: Awaited<ReturnType<typeof openWorld>>;
  let api: Owner["api"];

  before(async () => {
    world = await openWorld();
    api = await world.system.user();
  });
  after(() => world.close());

  const component = async (code: string, query: Record<string, string> = {}) =>
    (await api.expect(201, "POST", "/components", { body: { component_code: code }, query })).id as string;
  const put = (id: string, body: Record<string, unknown>) =>
    api.expect(200, "PUT", `/sources/${id}`, { body });
  const create = (body: Record<string, unknown>) => api.request("POST", "/sources", { body });

  it("are created active and named after their component", async () => {
    const component_id = await component(TIMER);
    const source = await api.createSource({ component_id });
    expect(source).to.have.all.keys(FIELDS);
    expect(source).to.deep.include({
      ...{ component_id, user_id: api.userId, active: true, name: "timer-source", name_slug: "timer-source" },
      configured_props: { timer: { cron: null, interval_seconds: 60 } },
    });
    isIdOf("dc", source.id);
    isRecent((source as unknown as { created_at: number }).created_at);
    const read = await api.expect(200, "GET", `/sources/${source.id}`);
    expect(read).to.deep.include({ ...source, dropped: {}, secrets_set: [] });
    isRecent(Math.floor((read.next_tick_at_ms - 60_000) / 1000));
    expect(await api.expect(200, "GET", "/sources/timer-source")).to.deep.equal(read);
    const second = await api.createSource({ component_id });
    expect(second.name).to.equal("timer-source");
    expect(second.name_slug).to.match(/^timer-source-[a-z0-9]+$/);
    expect((await api.expect(200, "GET", `/sources/${second.name_slug}`)).id).to.equal(second.id);
  });

  it("need a component, and use its id before its key, code and address", async () => {
    const id = await component(newCode());
    const [component_code, component_url] = [newCode(), "https://components.invalid/never-fetched.mjs"];
    expect(
      (await api.createSource({ component_id: id, component_code, component_url })).component_id,
    ).to.equal(id);
    expect((await api.createSource({ component_code, component_url })).component_id).not.to.equal(id);
    const published = await component(newCode("by-key"));
    await publishComponent(world.system.worker, published);
    const stranger = await world.system.user();
    expect((await stranger.createSource({ key: "by-key", name: "Mine" })).component_id).to.equal(published);
    const ways = ["component_id", "key", "component_code", "files", "component_url"];
    names(await create({ name: "none" }), ...ways.map(field => `body ${field}`));
    rejected(await create({ component_id: "sc_0000000000000000" }), 404);
    rejected(await create({ key: "no-such-key" }), 404);
  });

  it("accept a timer as intervalSeconds or cron, and return it as interval_seconds and cron", async () => {
    const timerOf = async (timer: unknown) =>
      (await api.createSource({ component_code: TIMER, configured_props: { timer } })).configured_props.timer;
    expect(await timerOf({ intervalSeconds: 900 })).to.deep.equal({ cron: null, interval_seconds: 900 });
    expect(await timerOf({ cron: "0 8 * * 1-5", timezone: "Europe/Berlin" })).to.deep.equal({
      ...{ cron: "0 8 * * 1-5", interval_seconds: null, timezone: "Europe/Berlin" },
    });
    expect(await timerOf({ cron: null, interval_seconds: 30 })).to.deep.equal({
      cron: null,
      interval_seconds: 30,
    });
  });

  it("have an endpoint if their component has an HTTP interface", async () => {
    const { configured_props } = await api.createSource({ component_code: newCode() });
    expect(configured_props).to.have.all.keys("http");
    expect(configured_props.http).to.have.all.keys("endpoint_url");
    expect(
      configured_props.http?.endpoint_url.startsWith(world.system.baseUrl.replace("/v1", "/in/")),
    ).to.equal(true);
  });

  it("are rejected with props that are unknown or invalid, each by name", async () => {
    const invalid: [Record<string, unknown>, string][] = [
      [{ surprise: 1 }, "surprise"],
      [{ city: 5 }, "city"],
      [{ count: 10 }, "count"],
      [{ count: "1" }, "count"],
      [{ timer: "daily" }, "timer"],
      [{ timer: { intervalSeconds: 0 } }, "timer.intervalSeconds"],
      [{ timer: { intervalSeconds: 1e9 } }, "timer.intervalSeconds"],
      [{ timer: { cron: "every day" } }, "timer.cron"],
      [{ timer: { cron: "0 8 * * *", timezone: "Mars" } }, "timer.timezone"],
    ];
    for (const [configured_props, name] of invalid) {
      names(await create({ component_code: TIMER, configured_props }), `body configured_props.${name}`);
    }
    const required = `export default { name: "R", version: "1", props: { a: "string", b: "integer[]" } };`;
    names(await create({ component_code: required }), "body configured_props.a", "body configured_props.b");
    for (const configured_props of [[], "x", null]) {
      names(await create({ component_code: TIMER, configured_props }), "body configured_props");
    }
  });

  it("show a prop of any kind, also under the name that is usual for an endpoint or a timer", async () => {
    const component_code = `export default { name: "Odd", version: "0.0.1", key: "odd", props: {
      http: "string", timer: "integer[]", hook: "$.interface.http" } };`;
    const given = { http: "plain", timer: [1, 2] };
    const { configured_props } = await api.createSource({ component_code, configured_props: given });
    expect(configured_props).to.deep.include(given);
    expect(configured_props.hook).to.have.all.keys("endpoint_url");
  });

  it("never show a secret", async () => {
    const props = { token: "hush-hush", city: "Bern" };
    const source = await api.createSource({ component_code: TIMER, configured_props: props });
    const responses = [
      source,
      await api.request("GET", `/sources/${source.id}`),
      await put(source.id, { name: "n" }),
    ];
    for (const response of responses) expect(JSON.stringify(response)).not.to.include("hush-hush");
    expect(source.configured_props).to.deep.include({ city: "Bern" }).and.not.to.have.property("token");
  });

  it("are enabled by an update without active", async () => {
    const { id, configured_props } = await api.createSource({ component_code: newCode(), name: "Switch" });
    const endpoint = configured_props.http?.endpoint_url ?? "";
    const call = async () => (await fetch(endpoint, { method: "POST" })).status;
    expect(await call()).to.equal(200);
    expect(await put(id, { active: false })).to.include({ active: false, name: "Switch" });
    expect(await call()).to.equal(404);
    expect(await api.expect(200, "GET", `/sources/${id}`)).to.include({ active: false });
    expect(await put(id, {})).to.include({ active: true });
    expect(await call()).to.equal(200);
    await put(id, { active: false });
    expect(await put(id, { name: "Renamed" })).to.deep.include({
      active: true,
      name: "Renamed",
      name_slug: "renamed",
      configured_props,
    });
    for (const active of ["false", 0, null]) {
      names(await api.request("PUT", `/sources/${id}`, { body: { active } }), "body active");
    }
    names(await create({ component_code: newCode(), active: false }), "body active");
  });

  it("can change to another component, and keep the props that both have", async () => {
    const source = await api.createSource({
      component_code: TIMER,
      configured_props: { city: "Bern", count: 3 },
    });
    const next = TIMER.replace("0.0.1", "0.0.2").replace(
      /count: .*? \} \}/,
      'extra: { type: "boolean", optional: true } }',
    );
    names(
      await api.request("PUT", `/sources/${source.id}`, {
        body: { component_code: next, configured_props: { count: 1 } },
      }),
      "body configured_props.count",
    );
    const changed = await put(source.id, { component_code: next, configured_props: { extra: true } });
    expect(changed.component_id).not.to.equal(source.component_id);
    expect(changed.configured_props).to.deep.equal({
      timer: { cron: null, interval_seconds: 60 },
      city: "Bern",
      extra: true,
    });
    expect(changed.id).to.equal(source.id);
  });

  it("are not found as soon as they are deleted", async () => {
    const { id, configured_props } = await api.createSource({ component_code: newCode(), name: "Going" });
    const response = await api.request("DELETE", `/sources/${id}`);
    expect([response.status, response.text]).to.deep.equal([204, ""]);
    for (const [method, path] of [
      ["GET", ""],
      ["PUT", ""],
      ["DELETE", ""],
      ["GET", "/event_summaries"],
      ["DELETE", "/events"],
    ]) {
      rejected(
        await api.request(method ?? "", `/sources/${id}${path}`, method === "PUT" ? { body: {} } : {}),
        404,
      );
    }
    rejected(await api.request("GET", "/sources/going"), 404);
    expect((await fetch(configured_props.http?.endpoint_url ?? "")).status).to.equal(404);
  });

  it("of an organization are created with org_id in query or body, and read without it", async () => {
    const org_id = await world.system.organization(api.userId);
    const inQuery = await api.createSource({ component_code: TIMER }, { org_id });
    const inBody = await api.createSource({ component_code: TIMER, org_id });
    expect(inQuery.user_id).to.equal(api.userId);
    const listed = (await api.expect(200, "GET", `/orgs/${org_id}/sources`)).map(
      (row: { id: string }) => row.id,
    );
    expect(listed).to.have.members([inQuery.id, inBody.id]);
    await api.expect(200, "GET", `/sources/${inQuery.id}`);
    rejected(
      await api.request("GET", `/sources/${inQuery.id}`, { query: { org_id: "o_0000000000000000" } }),
      404,
    );
  });

  it("with one slug in several accounts are read from the caller's own first, and never changed by it", async () => {
    const [red, blue] = [
      await world.system.organization(api.userId),
      await world.system.organization(api.userId),
    ];
    const create = (org_id?: string) =>
      api.createSource({ component_code: newCode(), name: "Twin" }, org_id ? { org_id } : {});
    const [ofRed, ofBlue] = [await create(red), await create(blue)];
    const CHANGES: [string, string, object][] = [
      ["PUT", "/sources/twin", { body: {} }],
      ["DELETE", "/sources/twin/events", {}],
      ["DELETE", "/sources/twin", {}],
    ];
    const READS = ["", "/runs", "/events", "/event_summaries", "/$errors/event_summaries", "/sse"];
    const isAmbiguous = async (method: string, path: string, options = {}, ...ids: string[]) => {
      const { detail } = rejected(await api.request(method, path, options), 409);
      for (const id of ids) expect(detail, `${method} ${path}`).to.include(id);
    };
    for (const path of READS) await isAmbiguous("GET", `/sources/twin${path}`, {}, ofRed.id, ofBlue.id);
    for (const change of CHANGES) await isAmbiguous(...change, ofRed.id, ofBlue.id);
    const inRed = await api.expect(200, "GET", "/sources/twin", { query: { org_id: red } });
    expect(inRed.id).to.equal(ofRed.id);

    const own = await create();
    expect((await api.expect(200, "GET", "/sources/twin")).id).to.equal(own.id);
    for (const change of CHANGES) await isAmbiguous(...change, own.id, ofRed.id, ofBlue.id);

    for (const id of [ofRed.id, own.id]) await api.expect(204, "DELETE", `/sources/${id}`);
    await api.expect(204, "DELETE", "/sources/twin");
    rejected(await api.request("GET", `/sources/${ofBlue.id}`), 404);
  });

  it("of an organization can use every component that the member can read, and nobody else's", async () => {
    const [org_id, other_org] = [
      await world.system.organization(api.userId),
      await world.system.organization(api.userId),
    ];
    const personal = await component(newCode("shared-key"));
    const ofOther = await component(newCode(), { org_id: other_org });
    const foreign = await (await world.system.user()).expect(201, "POST", "/components", {
      body: { component_code: newCode("foreign-key") },
    });
    const deploy = (body: Record<string, unknown>) =>
      api.request("POST", "/sources", { body, query: { org_id } });
    for (const component_id of [personal, ofOther]) {
      expect((await deploy({ component_id })).body.data).to.include({ component_id });
    }
    rejected(await deploy({ key: "shared-key" }), 404);
    const { data } = (await deploy({ component_id: personal })).body;
    const query = { org_id };
    expect(
      await api.expect(200, "PUT", `/sources/${data.id}`, { query, body: { component_id: ofOther } }),
    ).to.include({ component_id: ofOther });
    // The organization's own component with the key comes first, although the member's is newer.
    const ofOrg = await component(newCode("two-keys"), { org_id });
    await component(`${newCode("two-keys")} // newer`);
    expect((await deploy({ key: "two-keys" })).body.data.component_id).to.equal(ofOrg);
    rejected(await deploy({ component_id: foreign.id }), 404);
    rejected(await deploy({ key: "foreign-key" }), 404);
    rejected(
      await api.request("PUT", `/sources/${data.id}`, { query, body: { component_id: foreign.id } }),
      404,
    );
  });

  it("of an organization can be updated if their component belongs to a member, and the reverse", async () => {
    const org_id = await world.system.organization(api.userId);
    const personal = await component(newCode());
    const shared = await component(newCode(), { org_id });
    const ofOrg = await api.createSource({ component_code: newCode() }, { org_id });
    expect(await put(ofOrg.id, { component_id: personal })).to.include({ component_id: personal });
    expect(await put(ofOrg.id, { active: false })).to.include({ active: false, component_id: personal });
    const own = await api.createSource({ component_id: shared });
    expect(await put(own.id, { name: "own" })).to.include({ name: "own", component_id: shared });
  });
});
