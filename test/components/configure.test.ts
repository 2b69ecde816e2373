import { expect } from "chai";
import { LIMITS } from "../../src/limits/catalogue.ts";
import type { Api, Problem } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";

/** A catalogue app as published components have it: choices come from the app, and depend on props and pages. */
const CODE = `
const CITIES = { CH: ["Bern", "Zug", "Chur"], AT: ["Wien"] };
const atlas = {
  type: "app", app: "atlas",
  methods: { allowed() { if (this.$auth.token !== "right") throw new Error("401 from the atlas"); return true; } },
  propDefinitions: {
    city: {
      type: "string", label: "City", useQuery: true,
      options({ country, page, prevContext, query }) {
        this.allowed();
        const named = CITIES[country].filter(city => city.toLowerCase().includes(query.toLowerCase()));
        const from = prevContext.next ?? 0;
        return { options: named.slice(from, from + 2).map(city => ({ label: city, value: city.slice(0, 2), more: 1 })),
          context: { next: from + 2, page } };
      },
    },
  },
};
export default {
  name: "Cities", version: "0.0.1",
  props: {
    atlas,
    country: { type: "string", reloadProps: true, options: ["CH", { label: "Austria", value: "AT" }] },
    city: { propDefinition: [atlas, "city", c => ({ country: c.country })] },
    mine: { type: "string", optional: true, options() { return [this.country, 7, null, { label: "x", value: this.double(2) }]; } },
    many: { type: "integer", optional: true, options: () => Array.from({ length: 1500 }, (_, n) => n) },
    slow: { type: "string", optional: true, options: () => new Promise(() => {}) },
    wrong: { type: "string", optional: true, async options() { console.log("asked"); return none.such; } },
    odd: { type: "string", optional: true, options: () => "no list" },
    plain: { type: "string", optional: true },
    http: "$.interface.http",
  },
  methods: { double: n => 2 * n },
  run() {},
};`;

const WRONG_LINE = CODE.split("\n").findIndex(line => line.includes("none.such")) + 1;

describe("the choices of a prop", () => {
  let system: System;
  let api: Api & { userId: string };
  let id: string;
  before(async () => {
    system = await startSystem({}, { workers: false });
    api = await system.user();
    ({ id } = await api.expect(201, "POST", "/components", { body: { component_code: CODE } }));
  });
  after(() => system.stop());

  const ask = (body: object) => api.expect(200, "POST", `/components/${id}/configure`, { body });
  const AUTH = { atlas: { $auth: { token: "right" } } };
  const SWISS = { ...AUTH, country: "CH" };

  it("come from the app's code, with its credentials and the props so far, page by page", async () => {
    const first = await ask({ prop_name: "city", configured_props: SWISS });
    expect(first).to.deep.equal({
      options: [
        { label: "Bern", value: "Be" },
        { label: "Zug", value: "Zu" },
      ],
      context: { next: 2, page: 0 },
      logs: [],
      error: null,
    });
    const next = { prop_name: "city", configured_props: SWISS, page: 1, prev_context: first.context };
    expect((await ask(next)).options).to.deep.equal([{ label: "Chur", value: "Ch" }]);
  });

  it("match what a person has typed", async () => {
    const { options } = await ask({ prop_name: "city", configured_props: SWISS, query: "zu" });
    expect(options).to.deep.equal([{ label: "Zug", value: "Zu" }]);
  });

  it("may be those of the component's own function, in any shape", async () => {
    expect((await ask({ prop_name: "mine", configured_props: { country: "AT" } })).options).to.deep.equal([
      { label: "AT", value: "AT" },
      { label: "7", value: 7 },
      { label: "x", value: 4 },
    ]);
    expect((await ask({ prop_name: "odd" })).options).to.deep.equal([]);
  });

  it("may be a list in the code, for which no code runs", async () => {
    expect((await ask({ prop_name: "country" })).options).to.deep.equal([
      { label: "CH", value: "CH" },
      { label: "Austria", value: "AT" },
    ]);
  });

  it("are cut to what a form can show", async () => {
    expect((await ask({ prop_name: "many" })).options).to.have.length(LIMITS.optionsListed.value);
  });

  it("come with the error that the code threw, its line and its logs", async () => {
    const { error, options } = await ask({ prop_name: "city", configured_props: { country: "CH" } });
    expect([error.message, options]).to.deep.equal(["401 from the atlas", []]);
    const wrong = await ask({ prop_name: "wrong" });
    expect(wrong.error).to.include({ code: "ReferenceError", message: "none is not defined" });
    expect(wrong.error.stack).to.include(`component.js:${WRONG_LINE}:`);
    expect(wrong.logs[0]).to.include({ message: "asked" });
  });

  it("end with Timeout if the code takes too long @long", async () => {
    const { error } = await ask({ prop_name: "slow" });
    expect(error).to.include({ code: "Timeout" });
    expect(error.message).to.include(`${LIMITS.optionsMs.value} ms`);
  });

  it("are asked with a source's own credentials, which no form has", async () => {
    const configured_props = { ...SWISS, city: "Be" };
    const source = await api.expect(201, "POST", "/sources", {
      body: { component_id: id, configured_props },
    });
    const path = `/sources/${source.id}/configure`;
    const data = await api.expect(200, "POST", path, { body: { prop_name: "city" } });
    expect(data.options[0]).to.deep.equal({ label: "Bern", value: "Be" });
    const austria = { prop_name: "city", configured_props: { country: "AT" } };
    expect((await api.expect(200, "POST", path, { body: austria })).options[0].label).to.equal("Wien");
    const stranger = await system.user();
    expect((await stranger.request("POST", path, { body: austria })).status).to.equal(404);
  });

  it("are described, so that a form knows what to ask", async () => {
    const { configurable_props } = await api.expect(200, "GET", `/components/${id}`);
    const byName = Object.fromEntries(configurable_props.map((prop: { name: string }) => [prop.name, prop]));
    expect(byName.city).to.include({ remote_options: true, use_query: true });
    expect(byName.country).to.include({ reload_props: true });
  });

  const REJECTED: [string, object, string][] = [
    ["an unknown prop", { prop_name: "nope" }, "prop_name"],
    ["a prop without choices", { prop_name: "plain" }, "prop_name"],
    ["no prop", {}, "prop_name"],
    [
      "a wrong prop so far",
      { prop_name: "city", configured_props: { country: 5 } },
      "configured_props.country",
    ],
    ["an unknown prop so far", { prop_name: "city", configured_props: { nope: 5 } }, "configured_props.nope"],
    ["a negative page", { prop_name: "city", page: -1 }, "page"],
  ];
  for (const [what, body, path] of REJECTED) {
    it(`are rejected for ${what}, naming ${path}`, async () => {
      const { status, body: problem } = await api.request<Problem>("POST", `/components/${id}/configure`, {
        body,
      });
      expect([status, problem.errors?.[0]?.path]).to.deep.equal([400, path]);
    });
  }

  it("are absent for another account's component", async () => {
    const stranger = await system.user();
    const { status } = await stranger.request("POST", `/components/${id}/configure`, {
      body: { prop_name: "city" },
    });
    expect(status).to.equal(404);
  });
});
