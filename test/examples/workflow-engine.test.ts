import { expect } from "chai";
import { startEngine } from "../../examples/workflow-engine/engine.mjs";
import { createWorkflow } from "../../src/workflows/workflows.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const NUMBERS = `export default { name: "Numbers", version: "0.0.1", props: { http: "$.interface.http" },
  run(event) { this.$emit(event.body.n); } };`;

describe("the example workflow engine", () => {
  let system: System;
  before(async () => {
    system = await startSystem();
  });
  after(() => system.stop());

  it("handles a source's events, and emits its results and errors as the workflow", async () => {
    const api = await system.user();
    const workflow = await createWorkflow(system.worker, { ownerId: api.userId, name: "Double" });
    const source = await api.createSource({ component_code: NUMBERS });
    await api.subscribe(source.id, workflow.id);
    const stop = await startEngine({
      redisUrl: system.worker.config.redisUrl,
      prefix: system.worker.config.redisPrefix,
      workflowId: workflow.id,
      steps: (event: unknown) => {
        if (typeof event !== "number") throw new TypeError("no number");
        return event * 2;
      },
    });
    try {
      for (const n of [21, "x"]) {
        await fetch(source.configured_props.http?.endpoint_url ?? "", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ n }),
        });
      }
      const rows = (path: string) =>
        until(async () => {
          const { body } = await api.request("GET", `/workflows/${workflow.id}${path}/event_summaries`);
          return body.data.length === 1 && body.data;
        });
      expect((await rows(""))[0].event).to.deep.equal({ raw_event: 42 });
      const [failed] = await rows("/$errors");
      expect(failed.event.error.code).to.equal("TypeError");
      expect(failed.event.original_event).to.equal("x");
    } finally {
      await stop();
    }
  });
});
