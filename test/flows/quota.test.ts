import { expect } from "chai";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const CODE = `export default { name: "Quota", version: "0.0.1", props: { http: "$.interface.http" },
  run(event) { this.$emit({ ok: true }); } };`;

describe("quotas", () => {
  let system: System;
  before(async () => {
    system = await startSystem({ FREE_DAILY_INVOCATIONS: "2" });
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
