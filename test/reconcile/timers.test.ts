import { Worker } from "bullmq";
import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import { WHOLE } from "../../src/lib/part.ts";
import { type Source, Sources } from "../../src/models/source.ts";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { runs } from "../../src/queues/runs.ts";
import { beginTimerSweep } from "../../src/reconcile/timers.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { sweep } from "../support/sweep.ts";
import { until } from "../support/until.ts";

describe("reconciling timers", () => {
  let platform: TestPlatform;
  beforeEach(async () => {
    platform = await openTestPlatform();
  });
  afterEach(() => platform.destroy());

  const queue = () => openedQueue(platform.queues, runs);
  const schedulers = async () =>
    (await queue().getJobSchedulers(0, -1)).map(({ key, every, pattern }) => ({
      key,
      every: every && Number(every),
      pattern,
    }));

  async function timerSource(overrides: Partial<Source> = {}): Promise<string> {
    const _id = newId("dc");
    await Sources(platform.mongo).insertOne({
      _id,
      owner_id: "u_1",
      user_id: "u_1",
      component_id: "sc_1",
      component_url: null,
      name: "timer",
      name_slug: _id,
      configured_props: "sealed",
      endpoint: null,
      timer: { cron: null, timezone: null, interval_seconds: 3600 },
      active: true,
      state: "ready",
      change_id: null,
      created_at: 0,
      updated_at: 0,
      ...overrides,
    });
    return _id;
  }

  it("sets missing timers, as after a loss of Redis, and changes nothing the second time", async () => {
    const interval = await timerSource();
    const cron = await timerSource({
      timer: { cron: "0 3 * * *", timezone: "Europe/Berlin", interval_seconds: null },
    });
    expect(await sweep(platform, "timers")).to.equal(2);
    const found = await schedulers();
    expect(found.find(({ key }) => key === interval)?.every).to.equal(3_600_000);
    expect(found.find(({ key }) => key === cron)?.pattern).to.equal("0 3 * * *");
    expect(await sweep(platform, "timers")).to.equal(0);
  });

  it("repairs a timer whose interval differs from its source's", async () => {
    const source = await timerSource();
    await queue().upsertJobScheduler(source, { every: 5000 }, { name: "tick", data: { source_id: source } });
    expect(await sweep(platform, "timers")).to.equal(1);
    expect((await schedulers())[0]?.every).to.equal(3_600_000);
  });

  it("removes timers of sources that are deleted, deleting or disabled", async () => {
    const disabled = await timerSource({ active: false });
    const deleting = await timerSource({ state: "deleting" });
    for (const key of [disabled, deleting, newId("dc")]) {
      await queue().upsertJobScheduler(key, { every: 5000 }, { name: "tick", data: { source_id: key } });
    }
    expect(await sweep(platform, "schedulers")).to.equal(3);
    expect(await schedulers()).to.deep.equal([]);
  });

  /** Removes the job of the next tick, as if it was lost. */
  async function loseTick(source: string): Promise<void> {
    const next = (await queue().getJobScheduler(source))?.next;
    const id = `repeat:${source}:${next}`;
    await platform.redis.zrem(queue().toKey("delayed"), id);
    await platform.redis.lrem(queue().toKey("wait"), 0, id);
    await platform.redis.del(queue().toKey(id));
  }
  const later = () => ({ ...platform, clock: () => Date.now() + 2 * 3_600_000 });

  it("sets a timer again whose tick was lost, and counts it as late", async () => {
    const source = await timerSource();
    await sweep(platform, "timers");
    await loseTick(source);
    expect(await sweep(later(), "timers")).to.equal(1);
    expect(await platform.metrics.valueOf("timers_late_total")).to.equal(1);
    expect((await schedulers()).map(({ key }) => key)).to.deep.equal([source]);
  });

  it("does not set a timer again whose late tick is still queued, and counts it as late", async () => {
    await timerSource();
    await sweep(platform, "timers");
    expect(await sweep(later(), "timers")).to.equal(0);
    expect(await platform.metrics.valueOf("timers_late_total")).to.equal(1);
  });

  /** As if the process that calls this ran on a machine whose clock is ahead: BullMQ reads the time from `Date.now`. */
  async function onMachineAhead(aheadMs: number, work: () => Promise<unknown>): Promise<void> {
    const { now } = Date;
    Date.now = () => now() + aheadMs;
    try {
      await work();
    } finally {
      Date.now = now;
    }
  }

  for (const [ahead, aheadMs] of Object.entries({ "an hour": 3_600_000, "a day": 86_400_000 })) {
    it(`sets timers again that a machine ${ahead} ahead has set, whether it made or only moved them`, async () => {
      const timers = [
        { cron: null, timezone: null, interval_seconds: 60 },
        { cron: "*/5 * * * *", timezone: "Europe/Berlin", interval_seconds: null },
      ];
      const ids = await Promise.all(timers.map(timer => timerSource({ timer })));
      await onMachineAhead(aheadMs, () => sweep(platform, "timers"));
      expect(await sweep(platform, "timers")).to.equal(2);
      const machineNow = Date.now;
      const nexts = async () =>
        (await queue().getJobSchedulers(0, -1)).map(({ key, next = 0 }) => [
          ids.includes(key),
          next > machineNow() + 300_000,
        ]);
      expect(await nexts()).to.deep.equal([
        [true, false],
        [true, false],
      ]);
      expect(await sweep(platform, "timers")).to.equal(0);

      // A worker on that machine starts each tick early, which makes BullMQ set the next one.
      await onMachineAhead(aheadMs, async () => {
        const worker = new Worker(queue().name, async () => undefined, {
          connection: platform.redis,
          prefix: queue().opts.prefix as string,
        });
        const areAhead = async () => (await nexts()).every(([, isAhead]) => isAhead);
        await until(areAhead, { what: "both timers moved" });
        await worker.close();
      });
      expect((await nexts()).map(([, isAhead]) => isAhead)).to.deep.equal([true, true]);
      expect(await sweep(platform, "timers")).to.equal(2);
      expect(await nexts()).to.deep.equal([
        [true, false],
        [true, false],
      ]);
    });
  }

  it("sets at once what was changed a moment ago, or is overdue, wherever the pass through all timers is", async () => {
    const last = "dc_~";
    const changed = await timerSource({ updated_at: Math.floor(Date.now() / 1000) });
    const stopped = await timerSource();
    const other = await timerSource();
    expect((await beginTimerSweep(platform, WHOLE)(last)).repaired, "changed").to.equal(1);
    expect(await schedulers()).to.have.length(1);
    await sweep(platform, "timers");
    await loseTick(stopped);
    await queue().removeJobScheduler(other);
    expect((await beginTimerSweep(later(), WHOLE)(last)).repaired, "overdue").to.equal(1);
    expect((await schedulers()).map(({ key }) => key)).to.have.members([changed, stopped]);
    expect(await sweep(platform, "timers"), "the pass").to.equal(1);
  });

  it("ticks once for the moments that a cron timer missed, but not for those before its last change", async () => {
    const daily = { cron: "0 3 * * *", timezone: "UTC", interval_seconds: null };
    const old = await timerSource({ timer: daily });
    const changed = await timerSource({ timer: daily, updated_at: Math.floor(Date.now() / 1000) });
    await sweep(platform, "timers");
    for (const source of [old, changed]) await queue().removeJobScheduler(source);
    await sweep(platform, "timers");
    const runs = await platform.redis.lrange(platform.keys.runQueue(old), 0, -1);
    expect(new Set(runs.map(run => JSON.parse(run).run_id)).size).to.equal(1);
    expect(new Date(JSON.parse(runs[0] ?? "").at_ms).toISOString()).to.match(/T03:00:00.000Z$/);
    expect(await platform.runQueue.length(changed)).to.equal(0);
  });
});
