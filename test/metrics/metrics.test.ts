import { expect } from "chai";
import { CATALOGUE } from "../../src/metrics/catalogue.ts";
import { Metrics } from "../../src/metrics/metrics.ts";

describe("the metrics of a process", () => {
  it("carry help and type for each metric that the process exposes", async () => {
    const metrics = new Metrics();
    metrics.count("runs_total", { outcome: "ok" });
    metrics.observe("sandbox_wait_seconds", 0.2);
    const { body } = await metrics.expose();
    for (const [name, { kind, help }] of Object.entries(CATALOGUE)) {
      const declared = `# HELP headwater_${name} ${help}\n# TYPE headwater_${name} ${kind}\n`;
      expect(body.includes(declared), name).to.equal(kind !== "gauge");
    }
    expect(body).to.include('headwater_runs_total{outcome="ok"} 1\n');
    expect(body).to.include("headwater_sandbox_wait_seconds_sum 0.2\n");
  });

  it("expose a gauge only in the process that collects it, fresh each time", async () => {
    const [collecting, other] = [new Metrics(), new Metrics()];
    let value = 0;
    collecting.collectGauges(["redis_memory_used_ratio"], async () => {
      value += 0.25;
      collecting.set("redis_memory_used_ratio", value);
    });
    expect((await collecting.expose()).body).to.include("headwater_redis_memory_used_ratio 0.25\n");
    expect((await collecting.expose()).body).to.include("headwater_redis_memory_used_ratio 0.5\n");
    expect((await other.expose()).body).not.to.include("redis_memory_used_ratio");
  });

  it("count a duration below zero, which clocks of two machines can make, as zero", async () => {
    const metrics = new Metrics();
    metrics.observe("delivery_lateness_seconds", -3);
    expect((await metrics.expose()).body).to.include("headwater_delivery_lateness_seconds_sum 0\n");
  });

  it("sum a counter over its labels", async () => {
    const metrics = new Metrics();
    metrics.count("jobs_total", { queue: "runs", job: "tick", outcome: "done" }, 2);
    metrics.count("jobs_total", { queue: "runs", job: "tick", outcome: "failed" });
    expect(await metrics.valueOf("jobs_total")).to.equal(3);
    expect(await metrics.valueOf("jobs_total", { outcome: "done" })).to.equal(2);
  });
});
