import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import { enqueueRuns } from "../../src/queues/runs.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const CODE = `export default { name: "Quota", version: "0.0.1", props: { http: "$.interface.http" },
  run(event) { this.$emit({ ok: true }); } };`;
/** What a form asks the code for. */
const FORM = `export default { name: "Form", version: "0.0.1",
  props: { pick: { type: "string", reloadProps: true, options() { return ["a"]; } } },
  additionalProps() { return { more: { type: "string", optional: true } }; }, run() {} };`;
const APP = `export default { name: "Named", version: "0.0.1",
  props: { chat: { type: "app", app: "chat" },
    events: { type: "$.interface.apphook", appProp: "chat", eventNames() { return ["a"]; } } }, run() {} };`;

describe("quotas", () => {
  let system: System;
  before(async () => {
    system = await startSystem({ FREE_LIMITS: "daily_invocations=2" });
  });
  after(() => system.stop());

  async function runTimes(api: Awaited<ReturnType<System["user"]>>, times: number) {
    const source = await api.createSource({ component_code: CODE });
    for (let i = 0; i < times; i++) await fetch(source.configured_props.http?.endpoint_url ?? "");
    return source;
  }

  it("prevent a run of a free account past its quota, and report it on $errors", async () => {
    const api = await system.user();
    const source = await runTimes(api, 3);
    const errors = await until(async () => {
      const found = await api.summaries(source.id, { stream: "$errors" });
      return found.length > 0 && found;
    });
    expect(errors.map(({ event }) => event.error.code)).to.deep.equal(["Quota Exceeded"]);
    expect(await api.summaries(source.id)).to.have.length(2);
    expect((await api.expect(200, "GET", `/sources/${source.id}`)).dropped).to.include({ "over-quota": 1 });
    const me = await api.expect(200, "GET", "/users/me");
    expect(me).to.include({ daily_invocations_quota: 2, daily_invocations_used: 2 });
    expect(me.daily_compute_time_used).to.be.a("number").and.to.be.at.least(0);
  });

  it("cost one record and one $errors event a minute, then reject requests until the day ends @long", async () => {
    const api = await system.user();
    const source = await runTimes(api, 2);
    const { body } = await api.request("POST", "/sources", { body: { component_code: CODE } });
    const other: string = body.data.configured_props.http.endpoint_url;
    await until(async () => (await api.summaries(source.id)).length === 2);
    const items = Array.from({ length: 20 }, () => ({
      kind: "http" as const,
      run_id: newId("run"),
      at_ms: Date.now(),
      event: {},
    }));
    await enqueueRuns(system.web, source.id, items);
    const shown = () => api.expect(200, "GET", `/sources/${source.id}`);
    await until(async () => (await shown()).dropped["over-quota"] === 20);
    expect(await api.summaries(source.id, { stream: "$errors" })).to.have.length(1);
    const runs = async () => (await api.request("GET", `/sources/${source.id}/runs`)).body.data;
    await until(async () => (await runs()).length >= 3);
    expect(await runs()).to.have.length(3);
    const rejected = await until(async () => {
      const response = await fetch(other);
      return response.status === 429 && response;
    });
    expect(Number(rejected.headers.get("retry-after"))).to.be.within(1, 86_400);
  });

  it("count hooks, and reject changes that would call more of them, but no deletion @long", async () => {
    const api = await system.user();
    const hooked = CODE.replace("run(", "hooks: { async activate() {}, async deactivate() {} }, run(");
    const { id } = await api.createSource({ component_code: hooked });
    const changed = (n: number) => ({ body: { component_code: `${hooked}//${n}` } });
    await api.expect(200, "PUT", `/sources/${id}`, changed(1));
    expect(await api.expect(200, "GET", "/users/me")).to.include({ daily_invocations_used: 3 });
    const rejected = [
      await api.request("PUT", `/sources/${id}`, changed(2)),
      await api.request("POST", "/components", { body: { component_code: `${hooked}//` } }),
    ];
    expect(rejected.map(({ status }) => status)).to.deep.equal([429, 429]);
    expect(rejected.every(({ headers }) => Number(headers.get("retry-after")) > 0)).to.equal(true);
    await api.expect(204, "DELETE", `/sources/${id}`);
    await until(
      async () => (await system.worker.mongo.collection("sources").findOne({ _id: id as never })) === null,
    );
  });

  it("count what forms ask of code, and end it past the quota", async () => {
    const api = await system.user();
    const save = async (component_code: string) =>
      (await api.expect(201, "POST", "/components", { body: { component_code } })).id as string;
    const [form, app] = [await save(FORM), await save(APP)];
    const events = { names: ["{{body.type}}"] };
    const connection = { app: "chat", fields: { token: "t" }, events };
    const authProvisionId = (await api.expect(201, "POST", "/connections", { body: connection })).id;
    const asked: [path: string, body: object][] = [
      [`/components/${form}/configure`, { prop_name: "pick" }],
      [`/components/${form}/props`, { configured_props: { pick: "a" } }],
    ];
    for (const [path, body] of asked) await api.expect(200, "POST", path, { body });
    expect(await api.expect(200, "GET", "/users/me")).to.include({ daily_invocations_used: 2 });
    // The names of an app's events are asked when a source is deployed.
    const configured_props = { chat: { authProvisionId } };
    for (const [path, body] of [...asked, ["/sources", { component_id: app, configured_props }] as const]) {
      expect((await api.request("POST", path, { body })).status, path).to.equal(429);
    }
    expect(await api.expect(200, "GET", "/users/me")).to.include({ daily_invocations_used: 2 });
  });

  it("do not limit a paid account, whose user shows the billing period", async () => {
    const api = await system.user({ plan: "paid" });
    const source = await runTimes(api, 3);
    await until(async () => (await api.summaries(source.id)).length === 3);
    const me = await until(async () => {
      const found = await api.expect(200, "GET", "/users/me");
      return found.billing_period_invocations === 3 && found;
    });
    expect(me.billing_period_start_ts).to.be.below(Date.now() / 1000);
    expect(me.billing_period_end_ts).to.be.above(Date.now() / 1000);
    expect(me.daily_invocations_quota).to.equal(undefined);
  });
});
