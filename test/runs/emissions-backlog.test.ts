import { expect } from "chai";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { emissions } from "../../src/queues/emissions.ts";
import { readEmissionBytes } from "../../src/store/limits/waiting-bytes.ts";
import { start as startEmissions } from "../../workers/emissions.ts";
import { start as startRuns } from "../../workers/runs.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const CODE = `export default { name: "Large", version: "0.0.1", props: { http: "$.interface.http" },
  run(event) { this.$emit("x".repeat(40_000)); } };`;

describe("the emissions of an account that wait on their queue", () => {
  let system: System;
  before(async () => {
    system = await startSystem({ FREE_LIMITS: "emission_bytes=100000" }, { workers: false });
  });
  after(() => system.stop());

  it("make its further runs wait once they are too many bytes, but no run is lost", async () => {
    const runs = startRuns(system.worker);
    await runs.ready();
    const api = await system.user();
    const source = await api.createSource({ component_code: CODE });
    const url = source.configured_props.http?.endpoint_url ?? "";
    const waiting = () => readEmissionBytes(system.worker, api.userId);
    for (let sent = 0; (await waiting()) < 100_000; sent++) {
      expect(sent).to.be.below(20);
      expect((await fetch(url)).status).to.equal(200);
      const before = await waiting();
      await until(async () => (await waiting()) > before);
    }
    for (let i = 0; i < 3; i++) await fetch(url);
    const held = await openedQueue(system.web.queues, emissions).getJobCountByTypes("waiting", "prioritized");
    expect(await system.worker.runQueue.length(source.id)).to.equal(3);
    const consumer = startEmissions(system.worker);
    await consumer.ready();
    await until(async () => (await api.summaries(source.id)).length === held + 3);
    await until(async () => (await waiting()) === 0);
    await Promise.all([runs.close(3000), consumer.close(3000)]);
  });
});
