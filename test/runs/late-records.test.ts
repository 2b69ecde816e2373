import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { RunRecords } from "../../src/models/run.ts";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { type Emission, emissions, emissionsIn } from "../../src/queues/emissions.ts";
import { enqueueRuns } from "../../src/queues/runs.ts";
import { executeQueuedRuns } from "../../src/runs/handle-job.ts";
import { LateRecords } from "../../src/runs/late-records.ts";
import type { RunDeps } from "../../src/runs/run.ts";
import type { CallResult } from "../../src/sandbox/protocol.ts";
import { listSettled } from "../../src/store/runs/settled-runs.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { sweep } from "../support/sweep.ts";
import { jobOf, resultOf, storeRunnableSource, withSandbox } from "./runnable-source.ts";

describe("the record of a run that changed no memory", () => {
  let platform: TestPlatform;
  let aheadMs: number;
  beforeEach(async () => {
    aheadMs = 0;
    platform = await openTestPlatform({}, { clock: () => Date.now() + aheadMs });
  });
  afterEach(() => platform.destroy());

  /** A worker whose component returns this and emits the number of the run. */
  function worker(result: Partial<CallResult> = {}) {
    let executed = 0;
    const late = new LateRecords(platform);
    const deps: RunDeps = {
      ...withSandbox(platform, () => {
        executed += 1;
        return resultOf({ emits: [{ event: { n: executed }, metadata: {} }], ...result });
      }),
      late,
    };
    const execute = (sourceId: string) => executeQueuedRuns(deps, jobOf(platform, sourceId, 0, newId("run")));
    return { late, execute, executed: () => executed };
  }

  async function enqueue(sourceId: string, kind: "http" | "event" = "http", run_id = newId("run")) {
    await enqueueRuns(platform, sourceId, [{ kind, run_id, at_ms: Date.now(), event: {} }]);
    return run_id;
  }
  const recordOf = (runId: string) => RunRecords(platform.mongo).findById(runId).lean();
  async function queued(): Promise<Emission[]> {
    const jobs = await openedQueue(platform.queues, emissions).getJobs(["waiting", "prioritized"]);
    return jobs.flatMap(({ data }) => emissionsIn(data));
  }

  it("is stored later, when its events are on their way and it is acknowledged", async () => {
    const { _id: sourceId } = await storeRunnableSource(platform);
    const { late, execute } = worker();
    const runIds = [await enqueue(sourceId), await enqueue(sourceId)];
    await execute(sourceId);
    expect((await queued()).map(({ emit_id }) => emit_id)).to.have.members(runIds.map(id => `${id}-0`));
    expect(await platform.runQueue.length(sourceId)).to.equal(0);
    expect(await listSettled(platform, sourceId)).not.to.have.length(0);

    await late.close();
    const records = await Promise.all(runIds.map(recordOf));
    expect(records.map(record => record?.outcome)).to.deep.equal(["ok", "ok"]);
    expect(records[0]).to.include({ source_id: sourceId, kind: "http", emitted: 1 });
    expect(records[0]?.finished_at).to.be.instanceOf(Date);
    expect(await listSettled(platform, sourceId)).to.deep.equal([]);
  });

  it("is stored by the reconciler if its process died, which enqueues the same events with the same ids", async () => {
    const { _id: sourceId } = await storeRunnableSource(platform);
    const dead = worker();
    const runId = await enqueue(sourceId);
    await dead.execute(sourceId);
    const [before] = await queued();
    await openedQueue(platform.queues, emissions).drain();
    expect(await sweep(platform, "settled"), "young").to.equal(0);

    aheadMs = 60_000;
    expect(await sweep(platform, "settled")).to.equal(1);
    expect(await queued()).to.deep.equal([before]);
    const record = await recordOf(runId);
    expect(record).to.include({ source_id: sourceId, outcome: "ok", emitted: 1 });
    expect(record?.expires_at).to.be.instanceOf(Date);
    expect(await listSettled(platform, sourceId)).to.deep.equal([]);
    expect(await sweep(platform, "settled")).to.equal(0);

    // Its process was not dead after all.
    await dead.late.close();
    expect(await RunRecords(platform.mongo).countDocuments({ source_id: sourceId })).to.equal(1);
  });

  it("is found before it is stored: the same event given to the source again is not run again", async () => {
    const { _id: sourceId } = await storeRunnableSource(platform);
    const [first, other] = [worker(), worker()];
    const runId = await enqueue(sourceId, "event");
    await first.execute(sourceId);
    await enqueue(sourceId, "event", runId);
    await first.execute(sourceId);
    await enqueue(sourceId, "event", runId);
    await other.execute(sourceId);
    await first.late.close();
    await enqueue(sourceId, "event", runId);
    await other.execute(sourceId);
    expect([first.executed(), other.executed()]).to.deep.equal([1, 0]);
    expect(await queued()).to.have.length(1);
  });

  it("does not wait for one that can't be stored, which is left to the reconciler", async () => {
    const { _id: sourceId } = await storeRunnableSource(platform);
    const { late, execute } = worker();
    late.add({ id: "1-bad", sourceId, records: [{ _id: null } as never], bytes: 0, unsent: [] });
    const runId = await enqueue(sourceId);
    await execute(sourceId);
    await late.flush();
    expect(await recordOf(runId)).to.include({ outcome: "ok" });
    expect(await listSettled(platform, sourceId)).to.deep.equal([]);
    expect(late.runIdsOf("1-bad")).to.equal(undefined);
    await late.close();
  });

  it("is stored first if the run changed memory, or if its process may keep no more", async () => {
    const db = { name: "db", type: "$.service.db" };
    const { _id: stateful } = await storeRunnableSource(platform, {}, { props: [db] });
    const changing = worker({ db: { seen: 1 } });
    const runId = await enqueue(stateful);
    await changing.execute(stateful);
    expect(await recordOf(runId)).to.include({ outcome: "ok" });

    const { _id: stateless } = await storeRunnableSource(platform);
    const full = worker();
    await full.late.close();
    const other = await enqueue(stateless);
    await full.execute(stateless);
    expect(await recordOf(other)).to.include({ outcome: "ok" });
    expect(await listSettled(platform, stateless)).to.deep.equal([]);
    expect(await queued()).to.have.length(2);
  });

  it("is stored first beyond what may be settled, in bytes of a batch and in runs and bytes of a process", async () => {
    const { lateRecords, lateRecordBytes, settledBytes } = LIMITS;
    const { _id: sourceId } = await storeRunnableSource(platform);
    const isSettledBy = async (one: ReturnType<typeof worker>) => {
      const runId = await enqueue(sourceId);
      await one.execute(sourceId);
      return (await recordOf(runId)) === null;
    };
    const textOf = (bytes: number) => ({ emits: [{ event: "x".repeat(bytes), metadata: {} }] });
    expect(await isSettledBy(worker(textOf(settledBytes.value / 2)))).to.equal(true);
    expect(await isSettledBy(worker(textOf(settledBytes.value)))).to.equal(false);

    const kept = { id: "1-kept", sourceId, records: [], bytes: 0, unsent: [] };
    const full = worker();
    full.late.add({ ...kept, bytes: lateRecordBytes.value - 1 });
    expect(full.late.hasRoom()).to.equal(true);
    full.late.add({ ...kept, bytes: 1 });
    expect(full.late.hasRoom()).to.equal(false);
    expect(await isSettledBy(full)).to.equal(false);

    const many = worker();
    many.late.add({ ...kept, records: Array(lateRecords.value).fill({ _id: null } as never) });
    expect(many.late.hasRoom()).to.equal(false);
    await Promise.all([full, many].map(({ late }) => late.close()));
  });
});
