import { expect } from "chai";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { runs } from "../../src/queues/runs.ts";
import type { Source, StoredTimer } from "../../src/sources/model.ts";
import { removeTimer, syncTimer, ticksAs, wantedTimer } from "../../src/sources/schedule.ts";
import { newId } from "../../src/store/ids.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

const every = (seconds: number): StoredTimer => ({ cron: null, timezone: null, interval_seconds: seconds });
const cron = (pattern: string, timezone: string | null = null): StoredTimer => ({
  cron: pattern,
  timezone,
  interval_seconds: null,
});

describe("the timer a source must tick by", () => {
  it("is its own while it is active and there, else none", () => {
    const timer = every(60);
    expect(wantedTimer({ active: true, state: "ready", timer })).to.equal(timer);
    expect(wantedTimer({ active: false, state: "ready", timer })).to.equal(null);
    expect(wantedTimer({ active: true, state: "deploying", timer })).to.equal(null);
    expect(wantedTimer({ active: true, state: "deleting", timer })).to.equal(null);
    expect(wantedTimer({ active: true, state: "ready", timer: null })).to.equal(null);
  });

  const compared: [object, StoredTimer, boolean][] = [
    [{ every: 60_000 }, every(60), true],
    [{ every: "60000" }, every(60), true],
    [{ every: 60_000 }, every(61), false],
    [{ pattern: "0 3 * * *" }, every(60), false],
    [{ pattern: "0 3 * * *", tz: "UTC" }, cron("0 3 * * *"), true],
    [{ pattern: "0 3 * * *" }, cron("0 3 * * *", "UTC"), true],
    [{ pattern: "0 3 * * *", tz: "Europe/Berlin" }, cron("0 3 * * *"), false],
    [{ pattern: "0 4 * * *", tz: "UTC" }, cron("0 3 * * *"), false],
    [{ every: 60_000 }, cron("* * * * *"), false],
  ];
  for (const [scheduler, timer, same] of compared) {
    it(`${JSON.stringify(timer)} is ${same ? "" : "not "}what ${JSON.stringify(scheduler)} ticks by`, () => {
      expect(ticksAs(scheduler as Parameters<typeof ticksAs>[0], timer)).to.equal(same);
    });
  }
});

describe("the scheduler of a source", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform();
  });
  after(() => platform.destroy());

  const queue = () => openedQueue(platform.queues, runs);
  const source = (timer: StoredTimer | null, overrides: Partial<Source> = {}) => ({
    _id: newId("dc"),
    active: true,
    state: "ready" as const,
    timer,
    ...overrides,
  });

  it("is set, kept while it agrees, changed, and removed", async () => {
    const one = source(every(3600));
    expect(await syncTimer(platform, one)).to.equal("set");
    const first = await queue().getJobScheduler(one._id);
    expect(await syncTimer(platform, one)).to.equal("kept");
    expect((await queue().getJobScheduler(one._id))?.next).to.equal(first?.next);
    expect(await syncTimer(platform, { ...one, timer: cron("0 3 * * *", "Asia/Tokyo") })).to.equal("set");
    expect(await queue().getJobScheduler(one._id)).to.deep.include({
      pattern: "0 3 * * *",
      tz: "Asia/Tokyo",
    });
    expect(await syncTimer(platform, { ...one, active: false })).to.equal("removed");
    expect(await syncTimer(platform, { ...one, active: false })).to.equal("kept");
    expect(await queue().getJobScheduler(one._id)).to.equal(undefined);
    await removeTimer(platform, one._id);
  });

  it("is one, however many set it at once, and has one next tick", async () => {
    const one = source(every(7200));
    await Promise.all(Array.from({ length: 8 }, () => syncTimer(platform, one)));
    const schedulers = (await queue().getJobSchedulers(0, -1)).filter(({ key }) => key === one._id);
    expect(schedulers).to.have.length(1);
    const waiting = await queue().getJobs(["waiting", "delayed", "prioritized"]);
    const ticks = waiting.filter(job => job.data.source_id === one._id);
    expect(ticks).to.have.length(1);
    expect(ticks[0]?.data).to.deep.equal({ kind: "tick", source_id: one._id });
  });

  it("leaves no tick behind when it is removed", async () => {
    const one = source(cron("0 3 * * *"));
    await syncTimer(platform, one);
    await removeTimer(platform, one._id);
    const waiting = await queue().getJobs(["waiting", "delayed", "prioritized"]);
    expect(waiting.filter(job => job.data.source_id === one._id)).to.deep.equal([]);
  });
});
