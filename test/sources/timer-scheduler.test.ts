import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import type { Source, StoredTimer } from "../../src/models/source.ts";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { runs } from "../../src/queues/runs.ts";
import {
  activeTimer,
  removeScheduler,
  schedulerMatches,
  syncScheduler,
} from "../../src/sources/timer-scheduler.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

const every = (seconds: number): StoredTimer => ({ cron: null, timezone: null, interval_seconds: seconds });
const cron = (pattern: string, timezone: string | null = null): StoredTimer => ({
  cron: pattern,
  timezone,
  interval_seconds: null,
});

describe("the active timer of a source", () => {
  it("is its timer if it is active and ready, else null", () => {
    const timer = every(60);
    expect(activeTimer({ active: true, state: "ready", timer })).to.equal(timer);
    expect(activeTimer({ active: false, state: "ready", timer })).to.equal(null);
    expect(activeTimer({ active: true, state: "deploying", timer })).to.equal(null);
    expect(activeTimer({ active: true, state: "deleting", timer })).to.equal(null);
    expect(activeTimer({ active: true, state: "ready", timer: null })).to.equal(null);
  });
});

describe("a job scheduler", () => {
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
    it(`${JSON.stringify(scheduler)} ${same ? "matches" : "does not match"} ${JSON.stringify(timer)}`, () => {
      expect(schedulerMatches(scheduler as Parameters<typeof schedulerMatches>[0], timer)).to.equal(same);
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

  it("is set, left alone while it agrees, changed, and removed", async () => {
    const one = source(every(3600));
    expect(await syncScheduler(platform, one)).to.equal("set");
    const first = await queue().getJobScheduler(one._id);
    expect(await syncScheduler(platform, one)).to.equal("unchanged");
    expect((await queue().getJobScheduler(one._id))?.next).to.equal(first?.next);
    expect(await syncScheduler(platform, { ...one, timer: cron("0 3 * * *", "Asia/Tokyo") })).to.equal("set");
    expect(await queue().getJobScheduler(one._id)).to.deep.include({
      pattern: "0 3 * * *",
      tz: "Asia/Tokyo",
    });
    expect(await syncScheduler(platform, { ...one, active: false })).to.equal("removed");
    expect(await syncScheduler(platform, { ...one, active: false })).to.equal("unchanged");
    expect(await queue().getJobScheduler(one._id)).to.equal(undefined);
    await removeScheduler(platform, one._id);
  });

  it("is a single one with one next tick, even if set many times at once", async () => {
    const one = source(every(7200));
    await Promise.all(Array.from({ length: 8 }, () => syncScheduler(platform, one)));
    const schedulers = (await queue().getJobSchedulers(0, -1)).filter(({ key }) => key === one._id);
    expect(schedulers).to.have.length(1);
    const waiting = await queue().getJobs(["waiting", "delayed", "prioritized"]);
    const ticks = waiting.filter(job => job.data.source_id === one._id);
    expect(ticks).to.have.length(1);
    expect(ticks[0]?.data).to.deep.equal({ source_id: one._id });
  });

  it("leaves no tick behind when it is removed", async () => {
    const one = source(cron("0 3 * * *"));
    await syncScheduler(platform, one);
    await removeScheduler(platform, one._id);
    const waiting = await queue().getJobs(["waiting", "delayed", "prioritized"]);
    expect(waiting.filter(job => job.data.source_id === one._id)).to.deep.equal([]);
  });
});
