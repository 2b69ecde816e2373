import { expect } from "chai";
import { acceptRuns, enqueueEmissionJobs } from "../../src/accepted/keep.ts";
import { newId } from "../../src/lib/ids.ts";
import { AcceptedWork } from "../../src/models/accepted.ts";
import { RunRecords } from "../../src/models/run.ts";
import type { Queued, Stores } from "../../src/platform.ts";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { emissions, emissionsIn } from "../../src/queues/emissions.ts";
import type { TriggerItem } from "../../src/queues/run-item.ts";
import { beginAcceptedSweep } from "../../src/reconcile/accepted.ts";
import { executeQueuedRuns } from "../../src/runs/handle-job.ts";
import { LateRecords } from "../../src/runs/late-records.ts";
import { UNBOUNDED } from "../../src/store/runs/run-queue.ts";
import { start as startEmissions } from "../../workers/emissions.ts";
import { jobOf, resultOf, storeRunnableSource, withSandbox } from "../runs/runnable-source.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { sweep } from "../support/sweep.ts";
import { until } from "../support/until.ts";

/** Longer than anything counts as under way. */
const LATER_MS = 60_000;

describe("what is accepted with DURABLE_INGRESS=mongodb", () => {
  let platform: TestPlatform;
  let aheadMs: number;
  let executed: string[];
  beforeEach(async () => {
    aheadMs = 0;
    executed = [];
    const clock = () => Date.now() + aheadMs;
    platform = await openTestPlatform({ DURABLE_INGRESS: "mongodb" }, { clock });
  });
  afterEach(() => platform.destroy());

  const rows = () => AcceptedWork(platform.mongo).find().sort({ _id: 1 }).lean();
  const ids = async () => (await rows()).map(({ _id }) => _id);
  const item = (): TriggerItem => {
    aheadMs += 1;
    const run_id = newId("run", platform.clock());
    return { kind: "http", run_id, at_ms: platform.clock(), event: { run_id } };
  };
  async function accept(
    sourceId: string,
    count: number,
    from: Stores & Queued = platform,
  ): Promise<string[]> {
    const items = Array.from({ length: count }, item);
    expect(await acceptRuns(from, sourceId, items, { ...UNBOUNDED, ownerId: "u_1" })).to.not.include(false);
    return items.map(({ run_id }) => run_id);
  }
  /** Executes what waits, as a worker of runs does. */
  async function execute(sourceId: string): Promise<void> {
    const late = new LateRecords(platform);
    const sandboxed = withSandbox(platform, ({ events }) => {
      executed.push((events[0] as { run_id: string }).run_id);
      return resultOf({ emits: [{ event: { n: executed.length }, metadata: {} }] });
    });
    await executeQueuedRuns({ ...sandboxed, late }, jobOf(platform, sourceId, 0, newId("run")));
    await late.close();
  }

  describe("a run", () => {
    let sourceId: string;
    beforeEach(async () => {
      sourceId = (await storeRunnableSource(platform))._id;
    });

    it("is in MongoDB until it is done, and then what it emitted is", async () => {
      const accepted = await accept(sourceId, 2);
      expect(await ids()).to.deep.equal(accepted);
      await execute(sourceId);
      expect(executed).to.deep.equal(accepted);
      await until(async () => (await rows()).every(({ kind }) => kind === "emissions"), { what: "no run" });
      const emitted = (await rows()).flatMap(({ body }) =>
        emissionsIn(JSON.parse(body)).map(one => one.emit_id),
      );
      expect(emitted).to.have.members(accepted.map(id => `${id}-0`));
    });

    it("is enqueued again in its order if Redis has lost it, and executed once", async () => {
      const accepted = await accept(sourceId, 3);
      await platform.runQueue.delete(sourceId);
      aheadMs = LATER_MS;
      expect(await sweep(platform, "accepted")).to.equal(1);
      await execute(sourceId);
      expect(executed).to.deep.equal(accepted);
      aheadMs += LATER_MS;
      await sweep(platform, "accepted");
      expect(await platform.runQueue.length(sourceId)).to.equal(0);
    });

    it("is not enqueued again while it waits, behind however many", async () => {
      await accept(sourceId, 3);
      aheadMs = LATER_MS;
      expect(await sweep(platform, "accepted")).to.equal(0);
      expect(await platform.runQueue.length(sourceId)).to.equal(3);
    });

    it("that a failover lost is found while later ones wait", async () => {
      const lost = await accept(sourceId, 1);
      await platform.runQueue.delete(sourceId);
      aheadMs = LATER_MS;
      const later = await accept(sourceId, 2);
      aheadMs += 1;
      expect(await sweep(platform, "accepted")).to.equal(1);
      await execute(sourceId);
      expect(executed).to.deep.equal([...later, ...lost]);
    });

    it("that was executed is not again, although its row was left by a worker that died", async () => {
      const [runId = ""] = await accept(sourceId, 1);
      const [row] = await rows();
      await execute(sourceId);
      await until(async () => !(await ids()).includes(runId), { what: "the row to be gone" });
      if (row) await AcceptedWork(platform.mongo).insertMany([row]);
      expect(await RunRecords(platform.mongo).exists({ _id: runId })).not.to.equal(null);
      aheadMs = LATER_MS;
      await sweep(platform, "accepted");
      await until(async () => !(await ids()).includes(runId), { what: "the row to be gone again" });
      expect(await platform.runQueue.length(sourceId)).to.equal(0);
    });

    it("that comes twice is executed once", async () => {
      const run = { ...item(), kept: true };
      for (let n = 0; n < 2; n += 1) {
        await platform.runQueue.push(sourceId, [JSON.stringify(run)], UNBOUNDED);
        await execute(sourceId);
      }
      expect(executed).to.deep.equal([run.run_id]);
    });

    it("that did not fit leaves nothing", async () => {
      const bounds = { ...UNBOUNDED, ownerId: "u_1", runs: 1 };
      const accepted = await acceptRuns(platform, sourceId, [item(), item()], bounds);
      expect(accepted).to.deep.equal([true, false]);
      await until(async () => (await ids()).length === 1, { what: "one row" });
    });

    it("of a source that was deleted is forgotten", async () => {
      const longAgo = newId("dc", platform.clock() - 2 * LATER_MS);
      await accept(longAgo, 1);
      aheadMs = LATER_MS;
      await sweep(platform, "accepted");
      await until(async () => (await ids()).length === 0, { what: "no row" });
    });
  });

  describe("a job of emissions", () => {
    let emitterId: string;
    beforeEach(async () => {
      emitterId = (await storeRunnableSource(platform))._id;
    });
    const queue = () => openedQueue(platform.queues, emissions);
    const enqueue = (emit_id = newId("emit")) =>
      enqueueEmissionJobs(platform, [
        {
          emitter_id: emitterId,
          emit_id,
          event: { emit_id },
          account_id: "u_1",
          requested_at_ms: platform.clock(),
        },
      ]);
    const events = async () => (await platform.eventLog.page(emitterId, "emits", { limit: 100 })).rows;
    async function handle(): Promise<void> {
      const worker = startEmissions(platform);
      await worker.ready();
      await until(async () => (await ids()).length === 0, { what: "nothing accepted to be left" });
      await worker.close(5000);
    }

    it("is in MongoDB until it is handled", async () => {
      await enqueue();
      expect(await ids()).to.have.length(1);
      await handle();
      expect(await events()).to.have.length(1);
    });

    it("is enqueued again if Redis has lost it, under the same emit id", async () => {
      await enqueue("order-17");
      const [row] = await rows();
      await queue().remove(row?._id ?? "");
      aheadMs = LATER_MS;
      expect(await sweep(platform, "accepted")).to.equal(1);
      await handle();
      expect((await events()).map(({ metadata }) => metadata.emit_id)).to.deep.equal(["order-17"]);
    });

    it("is not enqueued again while it waits", async () => {
      await enqueue();
      aheadMs = LATER_MS;
      expect(await sweep(platform, "accepted")).to.equal(0);
      expect(await queue().getJobCountByTypes("waiting", "prioritized")).to.equal(1);
      await handle();
    });

    it("that was handled before Redis lost everything is the same event", async () => {
      await enqueue("order-18");
      const [row] = await rows();
      await handle();
      const [first] = await events();
      if (row) await AcceptedWork(platform.mongo).insertMany([row]);
      await platform.eventLog.delete(emitterId);
      aheadMs = LATER_MS;
      expect(await sweep(platform, "accepted")).to.equal(1);
      await handle();
      const stored = await platform.mongo.collection("events").find().toArray();
      expect(stored.map(({ event_id }) => event_id)).to.deep.equal([first?.id]);
    });
  });

  it("is looked at by account: one with many rows does not hold up another's", async () => {
    const many = 4000;
    const due = new Date(platform.clock() - LATER_MS);
    const rowOf = (owner_id: string, check_at: Date) => ({
      ...{ _id: newId("run"), kind: "run" as const, owner_id, source_id: newId("dc"), body: "{}" },
      ...{ at_ms: check_at.getTime(), check_at },
    });
    const ofMany = Array.from({ length: many }, () => ({ ...rowOf("u_many", due), source_id: "dc_one" }));
    const other = rowOf("u_other", new Date(due.getTime() + 1000));
    await AcceptedWork(platform.mongo).insertMany([...ofMany, other]);
    const next = beginAcceptedSweep(platform);
    let batches = 0;
    const isLookedAt = async () => {
      const row = await AcceptedWork(platform.mongo).findById(other._id).lean();
      return row === null || row.check_at > other.check_at;
    };
    while (!(await isLookedAt())) {
      await next(null);
      batches += 1;
    }
    expect(batches).to.be.below(many / 200);
  });

  it("is nothing by default", async () => {
    const plain = await openTestPlatform();
    try {
      const { _id } = await storeRunnableSource(plain);
      await accept(_id, 1, plain);
      await enqueueEmissionJobs(plain, [{ emitter_id: _id, emit_id: "one", event: 1 }]);
      expect(await AcceptedWork(plain.mongo).countDocuments()).to.equal(0);
    } finally {
      await plain.destroy();
    }
  });
});
