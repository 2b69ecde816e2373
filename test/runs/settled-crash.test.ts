// runs-long: npm test has test/flows/crash.test.ts

import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import { RunRecords } from "../../src/models/run.ts";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { emissions as emissionsQueue } from "../../src/queues/emissions.ts";
import type { RunningWorker } from "../../src/queues/run-worker.ts";
import { enqueueRuns } from "../../src/queues/runs.ts";
import { settledRunIds } from "../../src/runs/settle.ts";
import { listSettled } from "../../src/store/runs/settled-runs.ts";
import { start as startEmissions } from "../../workers/emissions.ts";
import type { Api } from "../support/api.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { environmentOf, spawnWorker, type WorkerProcess, whenReady } from "../workers/worker-process.ts";

const RUNS = 20;
/** Says that it runs, and emits something else each time: a repeated run could be seen by its request and by its event. */
const CODE = `export default { name: "Random", version: "0.0.1", props: { http: "$.interface.http" },
  async run({ url, n }) {
    const random = Math.random();
    await fetch(url, { method: "POST", body: JSON.stringify({ n, random }) });
    this.$emit({ n, random });
  } };`;

describe("a worker that is killed after its runs are settled", () => {
  let system: System;
  let emissions: RunningWorker;
  let receiver: Receiver;
  let api: Api;
  const processes: WorkerProcess[] = [];
  before(async () => {
    system = await startSystem({ TIMEOUTS: "stalled:1s" }, { workers: false });
    emissions = startEmissions(system.worker);
    await emissions.ready();
    api = await system.user({ plan: "paid" });
  });
  beforeEach(async () => {
    receiver = await startReceiver(200);
  });
  afterEach(async () => {
    for (const worker of processes.splice(0)) {
      worker.kill("SIGKILL");
      await worker.ended;
    }
    await receiver.close();
  });
  after(async () => {
    await emissions.close(3000);
    await system.stop();
  });

  function spawn(failpoint?: string): WorkerProcess {
    const env = {
      ...environmentOf(system.worker.config),
      ...{ NODE_ENV: "test", SWEEP_EVERY: "1s", SANDBOX_EGRESS_ALLOW: "127.0.0.0/8" },
      ...(failpoint && { HEADWATER_FAILPOINT: failpoint }),
    };
    const worker = spawnWorker("runs", env);
    processes.push(worker);
    return worker;
  }

  async function enqueue(sourceId: string): Promise<string[]> {
    const items = Array.from({ length: RUNS }, (_, n) => ({
      kind: "http" as const,
      run_id: newId("run"),
      at_ms: Date.now(),
      event: { n, url: receiver.url },
    }));
    await enqueueRuns(system.web, sourceId, items);
    return items.map(({ run_id }) => run_id);
  }

  for (const [failpoint, when] of [
    ["runs-settled", "before their events are enqueued"],
    ["settled-enqueued", "when their events are on their way, before their records are stored"],
    ["late-records-stored", "when their records are stored as well"],
  ] as const) {
    it(`${when}, loses no event and no record, and runs nothing again that was settled`, async () => {
      const { id: sourceId } = await api.createSource({ component_code: CODE });
      const runIds = await enqueue(sourceId);
      expect(await spawn(failpoint).ended).to.equal("SIGKILL");
      const settled = await settledRunIds(system.worker, sourceId);
      expect(settled, "runs that it settled").not.to.have.length(0);

      await whenReady(spawn());
      const records = await until(
        async () => {
          const found = await RunRecords(system.web.mongo).find({ source_id: sourceId }).lean();
          return found.length === RUNS && found;
        },
        { what: "the records of all runs" },
      );
      expect(records.map(({ _id }) => _id)).to.have.members(runIds);
      expect(new Set(records.map(({ outcome, emitted }) => `${outcome} ${emitted}`))).to.have.keys("ok 1");
      await until(async () => (await listSettled(system.web, sourceId)).length === 0, {
        what: "the end of all entries",
      });
      const queue = openedQueue(system.web.queues, emissionsQueue);
      await until(async () => (await queue.getJobCountByTypes("waiting", "prioritized", "active")) === 0, {
        what: "the end of all emissions",
      });

      const events = (await api.summaries(sourceId, { query: { limit: 100 } })).reverse();
      expect(events.map(({ metadata }) => metadata.emit_id)).to.deep.equal(runIds.map(id => `${id}-0`));
      const started = receiver.requests.map(({ raw }) => JSON.parse(raw) as { n: number; random: number });
      for (const runId of settled) {
        const n = runIds.indexOf(runId);
        const ofRun = started.filter(one => one.n === n);
        expect(ofRun, "starts of a settled run, and its event").to.deep.equal([events[n]?.event.raw_event]);
      }
    });
  }
});
