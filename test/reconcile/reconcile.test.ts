import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import { type RunRecord, RunRecords } from "../../src/models/run.ts";
import { Sources } from "../../src/models/source.ts";
import { openedQueue, type QueueDeclaration } from "../../src/queues/define-queue.ts";
import { emissions, emissionsIn } from "../../src/queues/emissions.ts";
import { parseRunItem } from "../../src/queues/run-item.ts";
import { enqueueRun, notifyRuns, runs } from "../../src/queues/runs.ts";
import { startReconciling } from "../../src/reconcile/reconcile.ts";
import { UNBOUNDED } from "../../src/store/runs/run-queue.ts";
import { storeSource } from "../sources/source-row.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { sweepAll } from "../support/sweep.ts";
import { until } from "../support/until.ts";

const NOTHING = {
  run_queues: 0,
  outboxes: 0,
  settled: 0,
  deliveries: 0,
  dispatches: 0,
  timers: 0,
  schedulers: 0,
  deleting: 0,
  deploying: 0,
  changes: 0,
  replays: 0,
  recoveries: 0,
  accepted: 0,
  silent_emitters: 0,
  failovers: 0,
  functions: 0,
  alerts: 0,
  issues: 0,
  mcp_subscriptions: 0,
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
  const notified = async () => (await jobs(runs)).map(({ source_id }) => source_id);
  const changes = async (id: string) =>
    (await platform.redis.lrange(platform.keys.changeQueue(id), 0, -1)).map(parseRunItem);

  /** Pushes a run that has waited in the source's run queue for a minute. */
  async function pushOldRun(sourceId = newId("dc")): Promise<string> {
    const item = { kind: "http", run_id: newId("run"), at_ms: 1, event: {} };
    await platform.runQueue.push(sourceId, [JSON.stringify(item)], UNBOUNDED);
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
      expires_at: new Date(Date.now() + 86_400_000),
      ...(outbox && { outbox: outbox.map(one => JSON.stringify(one)) }),
      finished_at: new Date(Date.now() - finishedAgoMs),
    };
    await RunRecords(platform.mongo).insertOne(row);
    return row;
  }

  it("repairs nothing if nothing is broken", async () => {
    await record(60_000);
    await storeSource(platform, { updated_at: seconds(60_000) });
    expect(await sweepAll(platform)).to.deep.equal(NOTHING);
    expect([await jobs(runs), await jobs(emissions)]).to.deep.equal([[], []]);
  });

  it("notifies the workers of runs that wait without a lease, but not of claimed or recent ones", async () => {
    const stalled = await pushOldRun();
    const held = await pushOldRun();
    await platform.runQueue.claim(held, "a worker", 60_000, 1);
    const fresh = await pushOldRun();
    await platform.redis.zadd(platform.keys.sourcesWithRuns(), Date.now(), fresh);
    expect(await sweepAll(platform)).to.deep.equal({ ...NOTHING, run_queues: 1 });
    expect(await notified()).to.deep.equal([stalled]);
  });

  it("keeps one notify job for a source, however long its runs wait and however often they are swept", async () => {
    const stalled = await pushOldRun();
    for (let n = 0; n < 20; n++) {
      await enqueueRun(platform, stalled, { kind: "http", run_id: newId("run"), at_ms: 1, event: n });
      // As if five seconds had passed, after which the job is promised again.
      const notification = await platform.runQueue.notification(stalled);
      await platform.redis.set(platform.keys.runsNotified(stalled), `${notification} 1`);
      await platform.redis.zadd(platform.keys.sourcesWithRuns(), Date.now() - 60_000, stalled);
      await notifyRuns(platform, stalled);
      await sweepAll(platform);
    }
    expect(await notified()).to.deep.equal([stalled]);
  });

  it("notifies the workers again if the notify job was lost, or failed and is kept", async () => {
    const stalled = await pushOldRun();
    expect(await sweepAll(platform)).to.include({ run_queues: 1 });
    const queue = openedQueue(platform.queues, runs);
    await (await queue.getJobs(["waiting"]))[0]?.remove();
    expect(await sweepAll(platform), "lost").to.include({ run_queues: 1 });
    const [job] = await queue.getJobs(["waiting"]);
    await platform.redis.hset(queue.toKey(job?.id ?? ""), "finishedOn", "1");
    await platform.redis.lrem(queue.toKey("wait"), 0, job?.id ?? "");
    expect(await sweepAll(platform), "failed").to.include({ run_queues: 1 });
    expect(await sweepAll(platform), "waiting").to.include({ run_queues: 0 });
    expect(await notified()).to.deep.equal([stalled]);
  });

  it("notifies the workers of a run whose worker was killed, once its lease has expired", async () => {
    const killed = await pushOldRun();
    await platform.runQueue.claim(killed, "a killed worker", 60_000, 1);
    await platform.redis.del(platform.keys.runLease(killed));
    expect(await sweepAll(platform)).to.include({ run_queues: 1 });
  });

  it("enqueues the emissions of a run that ended without enqueueing them, in order, once", async () => {
    const emission = (n: number) => ({ emitter_id: newId("dc"), emit_id: `run-${n}`, event: { n } });
    const lost = await record(60_000, [emission(0), emission(1)]);
    const recent = await record(0, [emission(2)]);
    expect(await sweepAll(platform)).to.deep.equal({ ...NOTHING, outboxes: 1 });
    const sent = (await jobs(emissions)).flatMap(emissionsIn);
    expect(sent.map(job => job.emit_id)).to.deep.equal(["run-0", "run-1"]);
    // The mark is not written by a majority, so that it may be read a little later.
    const unsent = async () =>
      (await RunRecords(platform.mongo).find({ "outbox.0": { $exists: true } })).map(({ _id }) => _id);
    await until(async () => !(await unsent()).includes(lost._id), { what: "no outbox" });
    expect(await unsent()).to.deep.equal([recent._id]);
    expect(await sweepAll(platform)).to.deep.equal(NOTHING);
  });

  it("enqueues the deletion of a source again if it was not finished and is not queued", async () => {
    const old = { state: "deleting", active: false, updated_at: seconds(60_000) } as const;
    const unfinished = await storeSource(platform, old);
    const queued = await storeSource(platform, old);
    await platform.runQueue.push(queued._id, ["{}"], UNBOUNDED);
    // Five seconds ahead: work is lost after a second here, and this source must stay recent on a busy machine.
    await storeSource(platform, { ...old, updated_at: seconds(-5000) });
    expect(await sweepAll(platform)).to.include({ deleting: 1 });
    expect((await changes(unfinished._id))[0]).to.include({ kind: "change", op: "delete" });
    expect(await platform.runQueue.length(queued._id)).to.equal(1);
    expect(await sweepAll(platform), "it is queued now").to.include({ deleting: 0 });
  });

  it("deletes a deployment that its request gave up long ago, and no other", async () => {
    const abandoned = await storeSource(platform, { state: "deploying", updated_at: seconds(16 * 60_000) });
    const underWay = await storeSource(platform, { state: "deploying", updated_at: seconds(60_000) });
    const ready = await storeSource(platform, { updated_at: seconds(16 * 60_000) });
    expect(await sweepAll(platform)).to.deep.equal({ ...NOTHING, deploying: 1 });
    const rows = await Sources(platform.mongo).find({}, { _id: 1 }).lean();
    expect(rows.map(({ _id }) => _id)).to.have.members([underWay._id, ready._id]);
    expect(abandoned._id).not.to.equal(underWay._id);
  });

  it("repairs everything else if one repair fails", async () => {
    const timer = { timezone: null, interval_seconds: null };
    await storeSource(platform, { timer: { ...timer, cron: "of an older version" } });
    const ticking = await storeSource(platform, { timer: { ...timer, cron: null, interval_seconds: 3600 } });
    const broken = await record(60_000);
    await RunRecords(platform.mongo).updateOne({ _id: broken._id }, { $set: { outbox: ["{}"] } });
    await platform.redis.hset(platform.keys.lastEventScore(broken.source_id), "not", "a number");
    const unfinished = await storeSource(platform, {
      state: "deleting",
      active: false,
      updated_at: seconds(60_000),
    });
    expect(await sweepAll(platform)).to.deep.equal({ ...NOTHING, timers: 1, deleting: 1 });
    expect(await openedQueue(platform.queues, runs).getJobScheduler(ticking._id)).to.be.an("object");
    expect(await changes(unfinished._id)).to.have.length(1);
  });

  it("is repeated, and counts its repairs", async () => {
    const stalled = await pushOldRun();
    const stop = startReconciling(platform);
    try {
      await until(async () => (await jobs(runs)).length > 0, { what: "the first round" });
      const another = await pushOldRun();
      await until(async () => (await jobs(runs)).length > 1, { what: "another round" });
      expect(await notified()).to.have.members([stalled, another]);
    } finally {
      await stop();
    }
    expect(await platform.metrics.valueOf("reconciled_total", { step: "run_queues" })).to.be.at.least(2);
  });
});
