import { expect } from "chai";
import type { RunView } from "../../src/runs/schema.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const CODE = `export default { name: "Listed", version: "0.0.1", dedupe: "unique", props: { http: "$.interface.http" },
  hooks: { activate() { this.$emit("active", { id: "a" }); } },
  run({ path, body }) {
    if (path === "/bad") throw Object.assign(new TypeError("no such city: " + "x".repeat(3000)), {});
    for (const id of body.ids) this.$emit({ id }, { id });
  } };`;

describe("the runs of a source", () => {
  let system: System;
  before(async () => {
    system = await startSystem({ FREE_LIMITS: "daily_invocations=4" });
  });
  after(() => system.stop());

  async function sourceWithRuns(...requests: { path?: string; ids?: string[] }[]) {
    const api = await system.user();
    const { id, configured_props } = await api.createSource({ component_code: CODE });
    const runIds: string[] = [];
    for (const { path = "/", ids = [] } of requests) {
      const response = await fetch(`${configured_props.http?.endpoint_url}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ids }),
      });
      runIds.push(((await response.json()) as { run_id: string }).run_id);
    }
    const rows = (query: Record<string, string> = {}): Promise<RunView[]> =>
      api.expect(200, "GET", `/sources/${id}/runs`, { query });
    const all = await until(async () => {
      const found = await rows();
      return found.length === requests.length + 1 && found;
    });
    return { id, api, runIds, rows, all };
  }

  it("show the trigger, events, drops and cost of each", async () => {
    const before = Date.now();
    const { id, runIds, all } = await sourceWithRuns({ ids: ["a", "b"] }, { ids: ["b", "c"] });
    const [second, first, created] = all;
    expect(all.map(run => run.id).slice(0, 2)).to.deep.equal([...runIds].reverse());
    expect(first).to.deep.include({ source_id: id, trigger: "http", outcome: "ok", error: null });
    expect([first?.emitted, first?.dropped]).to.deep.equal([1, { deduped: 1 }]);
    expect([second?.emitted, second?.dropped]).to.deep.equal([1, { deduped: 1 }]);
    expect(created).to.deep.include({ trigger: "create", outcome: "ok", emitted: 1, dropped: {} });
    for (const run of [first, second]) {
      expect(run?.started_at_ms).to.be.at.least(before);
      expect(run?.finished_at_ms).to.be.at.least(run?.started_at_ms ?? 0);
      expect(run?.duration_ms).to.be.above(0);
      if (process.platform === "linux") {
        expect(run?.cpu_ms).to.be.above(0);
        expect(run?.memory_bytes).to.be.above(1_000_000);
      } else {
        expect([run?.cpu_ms, run?.memory_bytes]).to.deep.equal([null, null]);
      }
    }
  });

  it("show why a run failed; `outcome=error` lists only failed runs", async () => {
    const { runIds, rows } = await sourceWithRuns({ ids: ["b"] }, { path: "/bad" }, { ids: ["c"] });
    const [failed, ...others] = await rows({ outcome: "error" });
    expect(others).to.deep.equal([]);
    expect(failed).to.deep.include({ id: runIds[1], outcome: "TypeError", emitted: 0 });
    expect(failed?.error?.code).to.equal("TypeError");
    expect(failed?.error?.message)
      .to.match(/^no such city: x+$/)
      .and.have.length(2048);
  });

  it("include a run that was not executed, with the reason", async () => {
    const { runIds, rows } = await sourceWithRuns({}, {}, {}, {});
    const [rejected] = await rows({ outcome: "error" });
    expect(rejected).to.deep.include({
      ...{ id: runIds[3], outcome: "Quota Exceeded", dropped: { "over-quota": 1 }, emitted: 0 },
      ...{ started_at_ms: null, cpu_ms: null, memory_bytes: null, duration_ms: 0 },
    });
  });

  it("reject an unknown outcome, naming the parameter", async () => {
    const { id, api } = await sourceWithRuns();
    const response = await api.request("GET", `/sources/${id}/runs`, { query: { outcome: "bad" } });
    expect(response.status).to.equal(400);
    expect(response.body.errors[0].path).to.equal("outcome");
  });
});
