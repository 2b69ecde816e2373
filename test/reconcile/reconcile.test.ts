import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import { type RunRecord, RunRecords } from "../../src/models/run.ts";
import { Sources } from "../../src/models/source.ts";
import { openedQueue, type QueueDeclaration } from "../../src/queues/define-queue.ts";
import { emissions, emissionsIn } from "../../src/queues/emissions.ts";
import { parseRunItem } from "../../src/queues/run-item.ts";
import { runs } from "../../src/queues/runs.ts";
import { reconcile, startReconciling } from "../../src/reconcile/reconcile.ts";
import { acquireLock } from "../../src/store/lock.ts";
import { storeSource } from "../sources/source-row.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { until } from "../support/until.ts";

const NOTHING = {
  run_queues: 0,
  outboxes: 0,
  deliveries: 0,
  dispatches: 0,
  timers: 0,
  deleting: 0,
  deploying: 0,
};

describe("reconciling", () => {
  let platform: TestPlatform;
  beforeEach(async () => {
    platform = await openTestPlatform();
  });
  afterEach(() => platform.destroy());

  const seconds = (agoMs: number) => Math.floor((Date.now() - agoMs) / 1000);
  const jobs = async (queue: QueueDeclaration) =>
    (await openedQueue(platform.queues, queue).getJobs(["waiting", "prioritized"])).map(job => job.data);
  const changes = async (id: string) =>
    (await platform.redis.lrange(platform.keys.changeQueue(id), 0, -1)).map(parseRunItem);

  /** A run that waits in a source's line since a minute. */
  async function waiting(sourceId = newId("dc")): Promise<string> {
    const item = { kind: "http", run_id: newId("run"), at_ms: 1, event: {} };
    await platform.runQueue.push(sourceId, [JSON.stringify(item)], 0);
    await platform.redis.zadd(platform.keys.sourcesWithRuns(), Date.now() - 60_000, sourceId);
    return sourceId;
  }

  async function record(finishedAgoMs: number, outbox?: object[]): Promise<RunRecord> {
    const row = {
      _id: newId("run"),
      source_id: newId("dc"),
      owner_id: "u_1",
      kind: "http",
      outcome: "ok",
      duration_ms: 1,
      emitted: outbox?.length ?? 0,
      dropped: {},
      ...(outbox && { outbox: outbox.map(one => JSON.stringify(one)) }),
      finished_at: new Date(Date.now() - finishedAgoMs),
    };
    await RunRecords(platform.mongo).insertOne(row);
    return row;
  }

  it("mends nothing where nothing is broken", async () => {
    await record(60_000);
    await storeSource(platform, { updated_at: seconds(60_000) });
    expect(await reconcile(platform)).to.deep.equal(NOTHING);
    expect([await jobs(runs), await jobs(emissions)]).to.deep.equal([[], []]);
  });

  it("wakes the workers for runs that wait with nobody at work, but for none in somebody's hands", async () => {
    const stuck = await waiting();
    const held = await waiting();
    await platform.runQueue.claim(held, "a worker", 60_000, 1);
    const fresh = await waiting();
    await platform.redis.zadd(platform.keys.sourcesWithRuns(), Date.now(), fresh);
    expect(await reconcile(platform)).to.deep.equal({ ...NOTHING, run_queues: 1 });
    expect(await jobs(runs)).to.deep.equal([{ source_id: stuck }]);
  });

  it("wakes them for a run whose worker was killed, once its lease is over", async () => {
    const killed = await waiting();
    await platform.runQueue.claim(killed, "a killed worker", 60_000, 1);
    await platform.redis.del(platform.keys.runLease(killed));
    expect(await reconcile(platform)).to.include({ run_queues: 1 });
  });

  it("sends the emissions of a run that ended and never sent them, in their order, once", async () => {
    const emission = (n: number) => ({ emitter_id: newId("dc"), emit_id: `run-${n}`, event: { n } });
    const forgotten = await record(60_000, [emission(0), emission(1)]);
    const young = await record(0, [emission(2)]);
    expect(await reconcile(platform)).to.deep.equal({ ...NOTHING, outboxes: 1 });
    const sent = (await jobs(emissions)).flatMap(emissionsIn);
    expect(sent.map(job => job.emit_id)).to.deep.equal(["run-0", "run-1"]);
    const rows = await RunRecords(platform.mongo).find().sort({ _id: 1 }).lean();
    expect(rows.map(row => [row._id, row.outbox?.length ?? 0])).to.have.deep.members([
      [forgotten._id, 0],
      [young._id, 1],
    ]);
    expect(await reconcile(platform)).to.deep.equal(NOTHING);
  });

  it("asks again for the deletion of a source that nobody finished, unless it stands in line", async () => {
    const old = { state: "deleting", active: false, updated_at: seconds(60_000) } as const;
    const left = await storeSource(platform, old);
    const busy = await storeSource(platform, old);
    await platform.runQueue.push(busy._id, ["{}"], 0);
    await storeSource(platform, { ...old, updated_at: seconds(0) });
    expect(await reconcile(platform)).to.include({ deleting: 1 });
    expect((await changes(left._id))[0]).to.include({ kind: "change", op: "delete" });
    expect(await platform.runQueue.length(busy._id)).to.equal(1);
    expect(await reconcile(platform), "it stands in line now").to.include({ deleting: 0 });
  });

  it("drops a deployment that its creator gave up long ago, and no other", async () => {
    const abandoned = await storeSource(platform, { state: "deploying", updated_at: seconds(16 * 60_000) });
    const underWay = await storeSource(platform, { state: "deploying", updated_at: seconds(60_000) });
    const ready = await storeSource(platform, { updated_at: seconds(16 * 60_000) });
    expect(await reconcile(platform)).to.deep.equal({ ...NOTHING, deploying: 1 });
    const rows = await Sources(platform.mongo).find({}, { _id: 1 }).lean();
    expect(rows.map(({ _id }) => _id)).to.have.members([underWay._id, ready._id]);
    expect(abandoned._id).not.to.equal(underWay._id);
  });

  it("mends the rest where one thing can't be mended", async () => {
    const timer = { timezone: null, interval_seconds: null };
    await storeSource(platform, { timer: { ...timer, cron: "of an older version" } });
    const ticking = await storeSource(platform, { timer: { ...timer, cron: null, interval_seconds: 3600 } });
    const broken = await record(60_000);
    await RunRecords(platform.mongo).updateOne({ _id: broken._id }, { $set: { outbox: ["no JSON"] } });
    const left = await storeSource(platform, {
      state: "deleting",
      active: false,
      updated_at: seconds(60_000),
    });
    expect(await reconcile(platform)).to.deep.equal({ ...NOTHING, timers: 1, deleting: 1 });
    expect(await openedQueue(platform.queues, runs).getJobScheduler(ticking._id)).to.be.an("object");
    expect(await changes(left._id)).to.have.length(1);
  });

  it("is done by one process at a time, again and again, and counted", async () => {
    await acquireLock(platform.redis, platform.keys.reconcilerLock(), "another process", 60_000);
    const stuck = await waiting();
    const stop = startReconciling(platform);
    try {
      await until(
        async () => (await platform.redis.get(platform.keys.reconcilerLock())) === "another process",
      );
      expect(await jobs(runs)).to.deep.equal([]);
      await platform.redis.del(platform.keys.reconcilerLock());
      await until(async () => (await jobs(runs)).length > 0, { what: "the next round" });
      expect(await platform.redis.get(platform.keys.reconcilerLock())).to.equal(platform.processId);
    } finally {
      await stop();
    }
    expect((await jobs(runs))[0]).to.deep.equal({ source_id: stuck });
    expect(await platform.metrics.valueOf("reconciled_total", { step: "run_queues" })).to.be.at.least(1);
  });
});
