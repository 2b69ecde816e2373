import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import { RunRecords } from "../../src/models/run.ts";
import { serveWorker } from "../../src/ops/serve-worker.ts";
import { enqueueRun } from "../../src/queues/runs.ts";
import { start as startRuns } from "../../workers/runs.ts";
import { storeRunnableSource } from "../runs/runnable-source.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { until } from "../support/until.ts";

describe("a runs worker that can't start sandboxes", () => {
  let platform: TestPlatform;
  const { TMPDIR } = process.env;
  before(async () => {
    platform = await openTestPlatform({}, { ownSandboxes: true });
  });
  after(async () => {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
    await platform.destroy();
  });

  it("is not ready, takes no jobs and loses no run, and executes what waits once it can", async () => {
    const server = await serveWorker({ ...platform, config: { ...platform.config, workerPort: 0 } });
    const { port } = server.address() as AddressInfo;
    const readiness = async () => {
      const response = await fetch(`http://127.0.0.1:${port}/readyz`);
      return { status: response.status, body: (await response.json()) as { missing?: string[] } };
    };
    // Where sandboxes have their files.
    process.env.TMPDIR = "/nonexistent";
    const worker = startRuns(platform);
    await worker.ready();
    const { _id } = await storeRunnableSource(platform);
    const runId = newId("run");
    await enqueueRun(platform, _id, { kind: "http", run_id: runId, at_ms: Date.now(), event: {} });
    const unready = await until(
      async () => {
        const found = await readiness();
        if (found.status === 503) return found;
        const run = await RunRecords(platform.mongo).findById(runId).lean();
        throw new Error(`status ${found.status}, run ${JSON.stringify(run)}`);
      },
      { what: "not ready" },
    );
    expect(unready.body.missing).to.deep.equal(["sandbox"]);
    expect(await platform.queues.get("runs")?.getFailedCount()).to.equal(0);

    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
    const record = await until(() => RunRecords(platform.mongo).findById(runId).lean(), {
      what: "the run",
    });
    expect(record.outcome, JSON.stringify(record.error)).to.equal("ok");
    expect((await readiness()).status).to.equal(200);
    server.close();
    await worker.close(3000);
  });
});
