import { createRequire } from "node:module";
import { Worker } from "bullmq";
import { expect } from "chai";
import { enqueue, enqueueAll, openedQueue } from "../../src/queues/define-queue.ts";
import { deliveries } from "../../src/queues/deliveries.ts";
import { runs } from "../../src/queues/runs.ts";
import { StoredJobs } from "../../src/queues/stored-jobs.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

const FIRST = "first";
const drain = (webhook_id: string, account_id: string) =>
  ({ webhook_id, account_id, reason: "order", due_ms: 1 }) as const;

describe("the stored jobs of a queue", () => {
  let platform: TestPlatform;
  let worker: Worker | undefined;
  beforeEach(async () => {
    platform = await openTestPlatform();
  });
  afterEach(async () => {
    await worker?.close();
    worker = undefined;
    await platform.destroy();
  });

  const queue = () => openedQueue(platform.queues, deliveries);
  const stored = () => new StoredJobs(platform.redis, queue());
  const idOf = (webhookId: string) => `${webhookId}-order-1`;

  /** Takes the next job as BullMQ itself does; undefined if there is none. */
  async function take() {
    const prefix = (queue().opts as { prefix?: string }).prefix ?? "";
    worker ??= new Worker(deliveries.name, null, { connection: platform.redis, prefix, autorun: false });
    return await worker.getNextJob("token", { block: false });
  }

  it("belong to the release of BullMQ whose keys were read", () => {
    // After an update: if the tests of this file and of backend.test.ts pass, only this number changes.
    const { version } = createRequire(import.meta.url)("bullmq/package.json");
    expect(version).to.equal("6.7.0");
  });

  it("are for BullMQ as before they were fetched, once one is requeued", async () => {
    await enqueueAll(platform.queues, deliveries.jobs.drain, [drain(FIRST, "u"), drain("second", "u")]);
    const taken = await take();
    expect(taken?.id).to.equal(idOf(FIRST));
    await stored().requeue({ id: idOf(FIRST), token: "another", priority: 0 });
    expect(await taken?.getState(), "with another token").to.equal("active");
    await stored().requeue({ id: idOf(FIRST), token: "token", priority: 0 });
    expect(await taken?.getState()).to.equal("waiting");
    expect((await queue().getJob(idOf(FIRST)))?.attemptsStarted).to.equal(0);
    expect((await take())?.id, "behind the other").to.equal(idOf("second"));
    expect((await take())?.id).to.equal(idOf(FIRST));
  });

  it("come in the order of their priority, once one is requeued with it", async () => {
    await enqueueAll(platform.queues, deliveries.jobs.drain, [drain(FIRST, "u"), drain("second", "u")]);
    await take();
    await stored().requeue({ id: idOf(FIRST), token: "token", priority: 7 });
    const job = await queue().getJob(idOf(FIRST));
    expect(await job?.getState()).to.equal("prioritized");
    expect(job?.priority).to.equal(7);
    expect(await queue().getCountsPerPriority([7])).to.deep.equal({ 7: 1 });
  });

  it("have the priority that is set while they are delayed, once they are due", async () => {
    await enqueue(platform.queues, deliveries.jobs.drain, drain(FIRST, "u"), { delayMs: 3_600_000 });
    await stored().setPriority(idOf(FIRST), 9);
    await (await queue().getJob(idOf(FIRST)))?.promote();
    expect(await queue().getCountsPerPriority([9])).to.deep.equal({ 9: 1 });
  });

  it("have the payload that replaced theirs", async () => {
    await enqueue(platform.queues, deliveries.jobs.drain, drain(FIRST, "u"));
    await stored().replacePayload(idOf(FIRST), drain(FIRST, "other"));
    expect((await queue().getJob(idOf(FIRST)))?.data).to.include({ account_id: "other" });
    const failure = await stored().replacePayload("absent", {}).catch(String);
    expect(failure).to.include("is not stored");
  });

  it("are live, finished or absent as BullMQ sees them", async () => {
    await queue().add("drain", drain(FIRST, "u"), { jobId: FIRST, attempts: 1, removeOnFail: false });
    expect(await stored().state(FIRST)).to.equal("live");
    const job = await take();
    expect(await stored().state(FIRST)).to.equal("live");
    await job?.moveToFailed(new Error("given up"), "token", false);
    expect(await job?.getState()).to.equal("failed");
    expect(await stored().state(FIRST)).to.equal("finished");
    expect(await stored().state("absent")).to.equal("absent");
  });

  it("are counted for their accounts while they wait, and a job of another account comes first if it is pulled", async () => {
    const count = (costs: [string, number][]) =>
      stored().countTurns(costs, { quantum: 2, keptS: 60, isFetched: false });
    expect((await count([["u", 1]])).waits, "without a backlog").to.equal(false);
    await enqueueAll(platform.queues, deliveries.jobs.drain, [
      ...[1, 2, 3, 4].map(n => drain(`of-u-${n}`, "u")),
      drain("of-v", "v"),
    ]);
    const { waits, positions } = await count([["u", 5]]);
    expect(waits).to.equal(true);
    expect((await count([["u", 1]])).positions).to.deep.equal([(positions[0] ?? 0) + 5]);
    expect(await stored().pullOther(["u", "v"])).to.equal(false);
    expect(await stored().pullOther(["u"])).to.equal(true);
    expect((await take())?.id).to.equal(idOf("of-v"));
  });

  it("include those of schedulers, whose ticks are read as BullMQ sets them", async () => {
    const timers = openedQueue(platform.queues, runs);
    await timers.upsertJobScheduler("dc_1", { every: 60_000 });
    await timers.upsertJobScheduler("dc_2", { pattern: "0 3 * * *", tz: "Europe/Berlin" });
    const all = new StoredJobs(platform.redis, timers);
    const read = await all.schedulers(["dc_1", "dc_2", "dc_3"]);
    for (const id of ["dc_1", "dc_2"]) {
      const { next, every, pattern, tz } = (await timers.getJobScheduler(id)) ?? {};
      const { key: _, ...fields } = read.get(id) ?? { key: "" };
      const expected = { next, every, pattern, tz };
      expect({ every: undefined, pattern: undefined, tz: undefined, ...fields }).to.deep.equal(expected);
      expect((await all.nextTicks()).get(id)).to.equal(next);
    }
    expect([...read.keys()]).to.deep.equal(["dc_1", "dc_2"]);
    expect(await all.overdueSchedulers(Number.MAX_SAFE_INTEGER, 1)).to.deep.equal(["dc_1"]);
    const [cursor, ids] = await all.scanSchedulers("0", 100);
    expect([cursor, ids.sort()]).to.deep.equal(["0", ["dc_1", "dc_2"]]);
  });
});
