// runs-long: npm test has test/runs/handle-job.test.ts, where a worker is killed once
import { expect } from "chai";
import type { RunningWorker } from "../../src/queues/run-worker.ts";
import { start as startEmissions } from "../../workers/emissions.ts";
import { startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { environmentOf, spawnWorker, type WorkerProcess, whenReady } from "../workers/worker-process.ts";
import { COUNTING, ENV, queuedRuns, raw } from "./queued-runs.ts";

describe("a source whose worker is killed", () => {
  let system: System;
  let emissions: RunningWorker;
  const processes: WorkerProcess[] = [];
  before(async () => {
    system = await startSystem(ENV, { workers: false });
    emissions = startEmissions(system.worker);
    await emissions.ready();
  });
  after(async () => {
    for (const worker of processes) {
      worker.kill("SIGKILL");
      await worker.ended;
    }
    await emissions?.close(3000);
    await system?.stop();
  });

  const { newSource, enqueue, recordsOf, eventsOf } = queuedRuns(() => system);
  const start = async (): Promise<WorkerProcess> => {
    const worker = spawnWorker("runs", { ...environmentOf(system.worker.config), ...ENV });
    processes.push(worker);
    await whenReady(worker);
    return worker;
  };

  it("repeatedly during the same run, fails that run and continues with the next", async () => {
    const source = await newSource(COUNTING);
    const receiver = await startReceiver("hang");
    const [first, deadly, next] = [{ n: 0 }, { n: 1, url: receiver.url }, { n: 2 }];
    const runIds = await enqueue(source.id, [first, deadly, next]);
    for (let crashes = 0; crashes < 4; crashes++) {
      const worker = await start();
      await until(() => receiver.hanging() === 1, { what: "the start of the run" });
      worker.kill("SIGKILL");
      await worker.ended;
      await until(() => receiver.hanging() === 0, { what: "the end of its sandbox" });
    }
    await start();
    const records = await recordsOf(source.id, runIds);
    expect(records.map(({ outcome }) => outcome)).to.deep.equal(["ok", "Crashed", "ok"]);
    expect(receiver.requests).to.have.length(4);
    const [error] = await eventsOf(source, 1, "$errors");
    expect(error?.event).to.deep.include({ original_event: deadly });
    expect(error?.event.error).to.deep.include({ code: "Crashed" });
    expect(error?.event.error.message).to.match(/4 workers/);
    const expected = [
      { n: 0, count: 1 },
      { n: 2, count: 2 },
    ];
    expect(raw(await eventsOf(source, 2))).to.deep.equal(expected);
    await receiver.close();
  });
});
