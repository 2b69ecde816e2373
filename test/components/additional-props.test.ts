import { expect } from "chai";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { DynamicPropsRows } from "../../src/models/component.ts";
import type { Api, Problem, SourceView } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

/** As in the catalogue: what else is asked for depends on a prop, and on what the app returns with the account's token. */
const CODE = `
const atlas = {
  type: "app", app: "atlas",
  methods: { columns() { if (this.$auth.token !== "right") throw new Error("401 from the atlas"); return ["name", "size"]; } },
  propDefinitions: { street: { type: "string", label: "Street", options({ city }) { return [city + " 1", this.$auth.token]; } } },
};
export default {
  name: "Sheets", version: "0.0.1",
  props: {
    atlas,
    mode: { type: "string", reloadProps: true, options: ["columns", "street", "nested", "timer", "http", "wrong", "many", "slow", "typed", "secret", "deep"] },
    note: { type: "string", optional: true },
    extra: { type: "string", label: "Extra", hidden: true },
  },
  methods: { double: n => 2 * n },
  async additionalProps(before) {
    before.extra.hidden = this.mode !== "columns";
    switch (this.mode) {
      case "columns": return Object.fromEntries(this.atlas.columns().map(name => [name, { type: "string", label: "Column " + name }]));
      case "street": return { street: { propDefinition: [atlas, "street", () => ({ city: "Bern" })] },
        own: { type: "integer", min: this.double(1), optional: true, options: () => [7, 8] } };
      case "nested": return { kind: { type: "string", reloadProps: true, default: "none" }, ...(this.kind === "sized" && { size: "integer" }) };
      case "timer": return { timer: { type: "$.interface.timer", default: { intervalSeconds: 3600 } }, db: "$.service.db" };
      case "http": return { http: { type: "$.interface.http", customResponse: true }, db: "$.service.db", again: atlas };
      case "wrong": console.log("asked"); return none.such;
      case "many": return Object.fromEntries(Array.from({ length: 64 }, (_, n) => ["p" + n, { type: "string", description: "x".repeat(${LIMITS.dynamicPropsBytes.value / 64}) }]));
      case "slow": return new Promise(() => {});
      case "typed": return { other: { type: "no.such.type" } };
      case "deep": {
        const levels = Object.keys(before).filter(name => name.startsWith("level")).length + 1;
        return Object.fromEntries(Array.from({ length: levels }, (_, n) => ["level" + n, { type: "string", reloadProps: true, optional: true }]));
      }
      case "secret": return { atlas: { type: "string" }, key: { type: "string", secret: true, optional: true } };
      default: return {};
    }
  },
  async run(event) {
    const seen = (this.db?.get("seen") ?? 0) + 1;
    this.db?.set("seen", seen);
    this.http?.respond({ status: 202, body: String(seen) + this.again.columns().join() });
    this.$emit({ seen, name: this.name, street: this.street, kind: this.kind, size: this.size });
  },
};`;
const PLAIN = `export default { name: "Plain", version: "0.0.1", props: { note: "string" }, run() {} };`;

describe("additionalProps of a component", () => {
  let system: System;
  let api: Api & { userId: string };
  let id: string;
  before(async () => {
    system = await startSystem();
    api = await system.user();
    ({ id } = await api.expect(201, "POST", "/components", { body: { component_code: CODE } }));
  });
  after(() => system.stop());

  const AUTH = { atlas: { $auth: { token: "right" } } };
  const next = (configured_props: object, more: object = {}, path = `/components/${id}/props`) =>
    api.expect(200, "POST", path, { body: { configured_props, ...more } });
  const create = (configured_props: object, more: object = {}): Promise<SourceView> =>
    api.expect(201, "POST", "/sources", { body: { component_id: id, configured_props, ...more } });
  const rejected = async (method: string, path: string, body: object) => {
    const { status, body: problem } = await api.request<Problem>(method, path, { body });
    return [status, problem.errors?.map(one => one.path), problem.detail] as const;
  };
  const namesOf = (props: { name: string }[]) => props.map(({ name }) => name);

  it("lists the props that the values so far lead to, with what it changed of the others", async () => {
    const columns = { ...AUTH, mode: "columns" };
    const made = await next(columns);
    expect(made.dynamic_props_id).to.match(/^dyp_/);
    expect([made.error, made.logs]).to.deep.equal([null, []]);
    expect(made.dynamic_props).to.deep.equal([
      { name: "extra", type: "string", label: "Extra", hidden: false },
      { name: "name", type: "string", label: "Column name" },
      { name: "size", type: "string", label: "Column size" },
    ]);
    expect(namesOf((await next({ ...AUTH, mode: "street" })).dynamic_props)).to.deep.equal(["street", "own"]);
  });

  it("says what the code threw, and with Timeout that it takes too long @long", async () => {
    const { dynamic_props_id, dynamic_props, error, logs } = await next({ ...AUTH, mode: "wrong" });
    expect([dynamic_props_id, dynamic_props]).to.deep.equal([null, []]);
    expect([error.message, logs[0].message]).to.deep.equal(["none is not defined", "asked"]);
    expect((await next({ mode: "columns" })).error.message).to.equal("401 from the atlas");
    expect((await next({ mode: "slow" })).error.message).to.include(`${LIMITS.additionalPropsMs.value} ms`);
  });

  it("deploys a source with the props of an id, which checks, binds and shows them", async () => {
    const configured = { ...AUTH, mode: "columns", extra: "e", name: "N" };
    const { dynamic_props_id } = await next({ ...AUTH, mode: "columns" });
    const lacking = await rejected("POST", "/sources", {
      component_id: id,
      configured_props: configured,
      dynamic_props_id,
    });
    expect(lacking.slice(0, 2)).to.deep.equal([400, ["configured_props.size"]]);
    const source = await create({ ...configured, size: "S" }, { dynamic_props_id });
    expect(source).to.include({ dynamic_props_id });
    expect(source.configured_props).to.deep.equal({ mode: "columns", extra: "e", name: "N", size: "S" });
    const shown = await api.expect(200, "GET", `/sources/${source.id}`);
    expect(namesOf(shown.dynamic_props)).to.deep.equal(["extra", "name", "size"]);
  });

  it("is called by the deploy itself, so that a component works without a form", async () => {
    const columns = { ...AUTH, mode: "columns", extra: "e", name: "N" };
    const lacking = await rejected("POST", "/sources", { component_id: id, configured_props: columns });
    expect(lacking.slice(0, 2)).to.deep.equal([400, ["configured_props.size"]]);
    const source = await create({ ...columns, size: "S" });
    expect(source.configured_props).to.include({ name: "N", size: "S" });
    const unknown = { ...columns, size: "S", nope: 1 };
    expect(
      (await rejected("POST", "/sources", { component_id: id, configured_props: unknown }))[1],
    ).to.deep.equal(["configured_props.nope"]);
  });

  it("is called again for the values of props that it made itself @long", async () => {
    const nested = { ...AUTH, mode: "nested" };
    expect((await create(nested)).configured_props).to.deep.equal({ mode: "nested" });
    const sized = await create({ ...nested, kind: "sized", size: 3 });
    expect(sized.configured_props).to.deep.equal({ mode: "nested", kind: "sized", size: 3 });
    const first = await next(nested);
    const stale = { component_id: id, configured_props: { ...nested, kind: "sized", size: 3 } };
    expect(
      (await rejected("POST", "/sources", { ...stale, dynamic_props_id: first.dynamic_props_id }))[2],
    ).to.include("another value of kind");
    const second = await next({ ...nested, kind: "sized" }, { dynamic_props_id: first.dynamic_props_id });
    expect(namesOf(second.dynamic_props)).to.deep.equal(["kind", "size"]);
    await create(stale.configured_props, { dynamic_props_id: second.dynamic_props_id });
  });

  it("is called no more often than its bound, and then the deploy is rejected and says why @long", async () => {
    const bound = LIMITS.additionalPropsCalls.value;
    const deep = (levels: number) => ({
      ...AUTH,
      mode: "deep",
      ...Object.fromEntries(Array.from({ length: levels }, (_, n) => [`level${n}`, "x"])),
    });
    const source = await create(deep(bound - 1));
    const shown = await api.expect(200, "GET", `/sources/${source.id}`);
    expect(shown.dynamic_props, "a level for each call").to.have.length(bound);
    const [status, fields, detail] = await rejected("POST", "/sources", {
      component_id: id,
      configured_props: deep(bound),
    });
    expect([status, fields]).to.deep.equal([400, ["additionalProps"]]);
    expect(detail).to.include(`makes other props at each of ${bound} calls`);
  });

  it("may make an HTTP interface, and a db and an app that the code uses", async () => {
    const source = await create({ ...AUTH, mode: "http", again: AUTH.atlas });
    const url = source.configured_props.http?.endpoint_url ?? "";
    expect(url).to.include("/in/");
    for (const seen of [1, 2]) {
      const response = await fetch(url, { method: "POST", body: "x" });
      expect([response.status, await response.text()]).to.deep.equal([202, `${seen}name,size`]);
    }
    expect(source.configured_props).to.not.have.property("again");
    expect((await api.expect(200, "GET", `/sources/${source.id}`)).secrets_set).to.deep.equal([
      "atlas",
      "again",
    ]);
  });

  it("may make a timer", async () => {
    const source = await create({ ...AUTH, mode: "timer" });
    expect(source.configured_props.timer).to.deep.equal({ cron: null, interval_seconds: 3600 });
    const shown = await api.expect(200, "GET", `/sources/${source.id}`);
    expect(shown.next_tick_at_ms).to.be.a("number");
    const faster = { configured_props: { timer: { intervalSeconds: 1 } } };
    await api.expect(200, "PUT", `/sources/${source.id}`, { body: faster });
    await until(async () => {
      const { data } = (await api.request("GET", `/sources/${source.id}/event_summaries`)).body;
      return data.length > 0;
    });
  });

  it("has choices of its own for the props that it makes", async () => {
    const street = { ...AUTH, mode: "street" };
    const { dynamic_props_id } = await next(street);
    const ask = (prop_name: string, path: string, more: object) =>
      api.expect(200, "POST", `${path}/configure`, { body: { prop_name, ...more } });
    const form = { configured_props: street, dynamic_props_id };
    const valuesOf = ({ options }: { options: { value: unknown }[] }) => options.map(({ value }) => value);
    expect(valuesOf(await ask("street", `/components/${id}`, form))).to.deep.equal(["Bern 1", "right"]);
    expect(valuesOf(await ask("own", `/components/${id}`, form))).to.deep.equal([7, 8]);
    const source = await create({ ...street, street: "Bern 1" });
    expect(valuesOf(await ask("street", `/sources/${source.id}`, {}))).to.deep.equal(["Bern 1", "right"]);
  });

  it("keeps a source's props while what they depend on stays, and makes them again after that", async () => {
    const source = await create({ ...AUTH, mode: "columns", extra: "e", name: "N", size: "S" });
    const path = `/sources/${source.id}`;
    const update = (configured_props: object, more = {}) =>
      api.expect(200, "PUT", path, { body: { configured_props, ...more } });
    const { dynamic_props_id } = source as unknown as { dynamic_props_id: string };
    expect(await update({ note: "n" })).to.include({ dynamic_props_id });
    expect(await update({ name: "M" }, { active: false })).to.include({ dynamic_props_id, active: false });
    const enabled = await api.expect(200, "PUT", path, { body: {} });
    expect(enabled).to.include({ dynamic_props_id, active: true });
    expect(enabled.configured_props).to.include({ name: "M" });
    const timed = await update({ mode: "timer" });
    expect(timed.dynamic_props_id).to.not.equal(dynamic_props_id);
    expect(timed.configured_props).to.not.have.any.keys("name", "size");
    const stale = await rejected("PUT", path, { configured_props: {}, dynamic_props_id });
    expect(stale.slice(0, 2)).to.deep.equal([400, ["dynamic_props_id"]]);
    const form = await next({ mode: "nested" }, {}, `${path}/props`);
    expect(namesOf(form.dynamic_props)).to.deep.equal(["kind"]);
    const nested = await update({ mode: "nested" }, { dynamic_props_id: form.dynamic_props_id });
    expect(nested.configured_props).to.deep.equal({ mode: "nested", extra: "e", note: "n" });
  });

  it("can't turn a stored credential into a prop that is shown", async () => {
    const source = await create({ ...AUTH, mode: "secret", key: "k3y" });
    expect(JSON.stringify(source)).to.not.include("right").and.not.include("k3y");
    const shown = await api.expect(200, "GET", `/sources/${source.id}`);
    expect(shown.secrets_set).to.deep.equal(["atlas", "key"]);
  });

  it("fails a deploy with its message and its line", async () => {
    const [status, paths, detail] = await rejected("POST", "/sources", {
      component_id: id,
      configured_props: { ...AUTH, mode: "wrong" },
    });
    expect([status, paths]).to.deep.equal([400, ["additionalProps"]]);
    expect(detail).to.match(/none is not defined \(at component\.js:\d+:\d+\)/);
    const without = await rejected("POST", "/sources", { component_id: id, configured_props: AUTH });
    expect(without.slice(0, 2)).to.deep.equal([400, ["configured_props.mode"]]);
  });

  it("is rejected for props that can't be used", async () => {
    const path = `/components/${id}/props`;
    const ask = (mode: string) => rejected("POST", path, { configured_props: { ...AUTH, mode } });
    expect((await ask("typed")).slice(0, 2)).to.deep.equal([400, ["props.other.type"]]);
    expect((await ask("many")).slice(0, 2)).to.deep.equal([400, ["additionalProps"]]);
    const { id: plain } = await api.expect(201, "POST", "/components", { body: { component_code: PLAIN } });
    expect(await api.expect(200, "POST", `/components/${plain}/props`, { body: {} })).to.deep.equal({
      dynamic_props_id: null,
      dynamic_props: [],
      logs: [],
      error: null,
    });
    expect((await rejected("POST", path, { configured_props: { nope: 1 } }))[1]).to.deep.equal([
      "configured_props.nope",
    ]);
  });

  it("has ids that only their account can use, for their component, until they expire", async () => {
    const configured_props = { ...AUTH, mode: "timer" };
    const { dynamic_props_id } = await next(configured_props);
    const stranger = await system.user();
    const theirs = await stranger.expect(201, "POST", "/components", { body: { component_code: CODE } });
    const foreign = await stranger.request<Problem>("POST", "/sources", {
      body: { component_id: theirs.id, configured_props, dynamic_props_id },
    });
    expect([foreign.status, foreign.body.errors?.[0]?.path]).to.deep.equal([400, "dynamic_props_id"]);
    expect((await stranger.request("POST", `/components/${id}/props`, { body: {} })).status).to.equal(404);
    const deploy = (body: object) =>
      rejected("POST", "/sources", { configured_props, dynamic_props_id, ...body });
    expect((await deploy({ component_code: `${CODE}//` }))[2]).to.include("another component");
    expect((await deploy({ component_code: PLAIN, configured_props: { note: "n" } }))[1]).to.deep.equal([
      "dynamic_props_id",
    ]);
    const row = await DynamicPropsRows(system.web.mongo).findById(dynamic_props_id).lean();
    expect(row?.expires_at.getTime()).to.be.within(Date.now(), Date.now() + LIMITS.dynamicPropsKept.value);
    await DynamicPropsRows(system.web.mongo).updateOne(
      { _id: dynamic_props_id },
      { expires_at: new Date(0) },
    );
    expect((await deploy({ component_id: id }))[2]).to.include("expired");
  });

  it("keeps the ids of the last props only", async () => {
    const rows = DynamicPropsRows(system.web.mongo);
    const other = await system.user();
    const { id: theirs } = await other.expect(201, "POST", "/components", { body: { component_code: CODE } });
    const old = Array.from({ length: LIMITS.dynamicProps.value }, (_, n) => ({
      _id: `dyp_${String(n).padStart(16, "0")}`,
      owner_id: other.userId,
      component_id: theirs,
      sealed: "x",
      expires_at: new Date(Date.now() + 60_000),
    }));
    await rows.insertMany(old);
    await other.expect(200, "POST", `/components/${theirs}/props`, { body: {} });
    expect(await rows.countDocuments({ owner_id: other.userId })).to.equal(LIMITS.dynamicProps.value);
    expect(await rows.exists({ _id: old[0]?._id })).to.equal(null);
  });
});
