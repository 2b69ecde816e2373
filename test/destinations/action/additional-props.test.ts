import { expect } from "chai";
import type { Api, Problem } from "../../support/api.ts";
import { type System, startSystem } from "../../support/system.ts";

/** As in the catalogue: which fields there are depends on what is written to, and on the account. */
const CODE = `
const sheets = { type: "app", app: "sheets", methods: { columns() { return this.$auth.columns.split(","); } } };
export default {
  name: "Add row", version: "0.0.1", key: "add-row", type: "action",
  props: { sheets, sheet: { type: "string", reloadProps: true } },
  additionalProps() {
    if (this.sheet === "wrong") return { timer: "$.interface.timer" };
    if (this.sheet === "none") throw new Error("no such sheet");
    return { ...Object.fromEntries(this.sheets.columns().map(name => [name, { type: "integer" }])), again: sheets };
  },
  run({ $ }) {
    $.export("$summary", this.sheet + ": " + this.sheets.columns().map(name => name + "=" + this[name]).join() + " " + this.again.columns().length);
  },
};`;

describe("an action whose code makes props", () => {
  let system: System;
  let api: Api;
  let connection: string;
  before(async () => {
    system = await startSystem({}, { workers: false });
    api = await system.user();
    const body = { app: "sheets", fields: { columns: "a,b" } };
    connection = (await api.expect(201, "POST", "/connections", { body })).id;
  });
  after(() => system?.stop());

  const props = (more: object = {}) => {
    const account = { authProvisionId: connection };
    return { sheets: account, again: account, sheet: "first", a: 1, b: 2, ...more };
  };
  const create = (action: object) => api.expect(201, "POST", "/destinations", { body: { action } });
  const summaryOf = async (id: string): Promise<string> => {
    const { response, error } = await api.expect(200, "POST", `/destinations/${id}/test`);
    return error ?? response;
  };

  it("is deployed with what its code makes of the values, and runs with them", async () => {
    const { id, action } = await create({ component_code: CODE, configured_props: props() });
    expect(action.dynamic_props_id).to.match(/^dyp_/);
    expect(action.dynamic_props.map(({ name }: { name: string }) => name)).to.deep.equal(["a", "b", "again"]);
    expect(action.configured_props).to.deep.include({ sheet: "first", a: 1, b: 2 });
    expect(await summaryOf(id)).to.equal("first: a=1,b=2 2");
  });

  it("takes templates for them, and for those on which they depend", async () => {
    const configured_props = props({ sheet: "{{context.id}}", a: "{{event.none}}" });
    const { id } = await create({ component_code: CODE, configured_props });
    expect(await summaryOf(id)).to.match(/^ConfigurationError: .*configured_props\.a/);
    const body = { action: { configured_props: { a: 7 } } };
    await api.expect(200, "PUT", `/destinations/${id}`, { body });
    expect(await summaryOf(id)).to.match(/^\w+: a=7,b=2 2$/);
  });

  it("is deployed with the id that a form got, unless a value changed since", async () => {
    const saved = await api.expect(201, "POST", "/components", { body: { component_code: CODE } });
    const so_far = { sheets: { authProvisionId: connection }, sheet: "{{event.sheet}}" };
    const body = { configured_props: so_far };
    const made = await api.expect(200, "POST", `/components/${saved.id}/props`, { body });
    expect(made.error).to.equal(null);
    const { dynamic_props_id } = made;
    const action = { component_id: saved.id, dynamic_props_id };
    const created = await create({ ...action, configured_props: props(so_far) });
    expect(created.action.dynamic_props_id).to.equal(dynamic_props_id);
    const changed = { action: { ...action, configured_props: props({ sheet: "other" }) } };
    const { status, body: problem } = await api.request<Problem>("POST", "/destinations", { body: changed });
    expect([status, problem.errors?.[0]?.path]).to.deep.equal([400, "action.dynamic_props_id"]);
  });

  it("keeps what a change leaves out, and has other props for other values", async () => {
    const { id, action } = await create({ component_code: CODE, configured_props: props() });
    const kept = await api.expect(200, "PUT", `/destinations/${id}`, {
      body: { action: { configured_props: { b: 5 } } },
    });
    expect(kept.action).to.include({ dynamic_props_id: action.dynamic_props_id });
    const next = await api.expect(200, "PUT", `/destinations/${id}`, {
      body: { action: { configured_props: { sheet: "second" } } },
    });
    expect(next.action.dynamic_props_id).not.to.equal(action.dynamic_props_id);
    expect(await summaryOf(id)).to.equal("second: a=1,b=5 2");
  });

  it("is not deployed with props that an action can't have, or without those that it needs", async () => {
    const cases: [object, RegExp][] = [
      [props({ sheet: "wrong" }), /timer: \$\.interface\.timer is for sources/],
      [props({ sheet: "none" }), /no such sheet/],
      [props({ b: undefined }), /configured_props\.b: is required/],
    ];
    for (const [configured_props, message] of cases) {
      const body = { action: { component_code: CODE, configured_props } };
      const response = await api.request<Problem>("POST", "/destinations", { body });
      expect(response.status).to.equal(400);
      expect(response.body.detail).to.match(message);
    }
  });

  it("can be tried before it is saved", async () => {
    const body = { component_code: CODE, configured_props: props(), event: {} };
    const tried = await api.expect(200, "POST", "/components/try", { body });
    expect(tried.error).to.equal(null);
    expect(tried.emits[0]).to.deep.include({ name: "$summary", event: "first: a=1,b=2 2" });
    const without = { ...body, configured_props: props({ sheet: "none" }) };
    const { status, body: problem } = await api.request<Problem>("POST", "/components/try", {
      body: without,
    });
    expect(status).to.equal(400);
    expect(problem.detail).to.match(/no such sheet/);
  });
});
