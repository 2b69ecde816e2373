import { getNextMillis } from "bullmq";
import { expect } from "chai";
import fc from "fast-check";
import { newId } from "../../src/lib/ids.ts";
import type { Source, StoredTimer } from "../../src/models/source.ts";
import { timerEvent } from "../../src/props/timer.ts";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { runs } from "../../src/queues/runs.ts";
import { lastMoment, removeTimer, syncTimer, ticksAs, wantedTimer } from "../../src/sources/schedule.ts";
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

describe("a cron timer where the clocks change", () => {
  // Each moment as UTC, and the zone's own time that run is told.
  const changes: [string, string, string, string, [string, string][]][] = [
    [
      "at a time that a spring day leaves out, ticks once that day, as much later",
      "30 2 * * *",
      "Europe/Berlin",
      "2024-03-29T12:00Z",
      [
        ["2024-03-30T01:30Z", "02:30:00+01:00"],
        ["2024-03-31T01:30Z", "03:30:00+02:00"],
        ["2024-04-01T00:30Z", "02:30:00+02:00"],
      ],
    ],
    [
      "at a time that an autumn day has twice, ticks the first time only",
      "30 2 * * *",
      "Europe/Berlin",
      "2024-10-25T12:00Z",
      [
        ["2024-10-26T00:30Z", "02:30:00+02:00"],
        ["2024-10-27T00:30Z", "02:30:00+02:00"],
        ["2024-10-28T01:30Z", "02:30:00+01:00"],
      ],
    ],
    [
      "at a time after the change, keeps its time of day in spring",
      "0 8 * * *",
      "America/New_York",
      "2024-03-09T00:00Z",
      [
        ["2024-03-09T13:00Z", "08:00:00-05:00"],
        ["2024-03-10T12:00Z", "08:00:00-04:00"],
      ],
    ],
    [
      "at a time after the change, keeps its time of day in autumn",
      "0 8 * * *",
      "America/New_York",
      "2024-11-02T00:00Z",
      [
        ["2024-11-02T12:00Z", "08:00:00-04:00"],
        ["2024-11-03T13:00Z", "08:00:00-05:00"],
      ],
    ],
    [
      "of each hour, ticks each hour that passes in spring",
      "0 * * * *",
      "Europe/Berlin",
      "2024-03-30T23:30Z",
      [
        ["2024-03-31T00:00Z", "01:00:00+01:00"],
        ["2024-03-31T01:00Z", "03:00:00+02:00"],
        ["2024-03-31T02:00Z", "04:00:00+02:00"],
      ],
    ],
    [
      "of each hour, ticks each hour that passes in autumn",
      "0 * * * *",
      "Europe/Berlin",
      "2024-10-26T23:30Z",
      [
        ["2024-10-27T00:00Z", "02:00:00+02:00"],
        ["2024-10-27T01:00Z", "02:00:00+01:00"],
        ["2024-10-27T02:00Z", "03:00:00+01:00"],
      ],
    ],
  ];
  for (const [what, pattern, tz, from, wanted] of changes) {
    it(what, () => {
      const moments = wanted.map(([utc]) => Date.parse(utc));
      let at = Date.parse(from);
      for (const [index, moment] of moments.entries()) {
        at = getNextMillis(at, { pattern, tz }) ?? 0;
        expect(new Date(at).toISOString(), "the scheduler's").to.equal(new Date(moment).toISOString());
        const local = timerEvent({ cron: pattern, timezone: tz }, at).timezone_configured;
        expect(local).to.have.nested.property("iso8601.time", wanted[index]?.[1]);
      }
    });

    it(`${what}: after an outage, the moment to make up is the last of these, and none besides`, () => {
      const timer = cron(pattern, tz);
      const moments = wanted.map(([utc]) => Date.parse(utc));
      for (const [index, moment] of moments.entries()) {
        const next = moments[index + 1] ?? moment + 60_000;
        for (let now = moment + 1; now <= next; now += 97 * 60_000) {
          expect(lastMoment(timer, now), new Date(now).toISOString()).to.equal(moment);
        }
        expect(lastMoment(timer, next)).to.equal(moment);
      }
    });
  }

  it("has a moment to make up of a day that begins at one o'clock", () => {
    const midnight = cron("0 0 * * *", "America/Santiago");
    const days = ["2024-09-07T04:00Z", "2024-09-08T04:00Z", "2024-09-09T03:00Z"].map(utc => Date.parse(utc));
    expect(days.map(moment => lastMoment(midnight, moment + 3_600_000))).to.deep.equal(days);
  });

  it("finds the last moment of any timer that ticks by its zone, at any time", () => {
    const zones = ["UTC", "Europe/Berlin", "America/New_York", "America/Santiago", "Asia/Kathmandu"];
    const patterns = ["* * * * *", "*/7 3 * * *", "0 0 * * *", "30 2 1 * *", "0 9 * * MON", "15 6 29 2 *"];
    const cases = fc.record({
      pattern: fc.constantFrom(...patterns),
      tz: fc.constantFrom(...zones),
      now: fc.integer({ min: Date.UTC(2024, 0), max: Date.UTC(2027, 0) }),
    });
    fc.assert(
      fc.property(cases, ({ pattern, tz, now }) => {
        const last = lastMoment(cron(pattern, tz), now) ?? 0;
        expect(last).to.be.lessThan(now);
        expect(getNextMillis(last, { pattern, tz })).to.be.at.least(now);
      }),
      { numRuns: 40 },
    );
  });

  it("has no moment to make up for an interval", () => {
    expect(lastMoment(every(60), Date.now())).to.equal(null);
  });
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
    expect(ticks[0]?.data).to.deep.equal({ source_id: one._id });
  });

  it("leaves no tick behind when it is removed", async () => {
    const one = source(cron("0 3 * * *"));
    await syncTimer(platform, one);
    await removeTimer(platform, one._id);
    const waiting = await queue().getJobs(["waiting", "delayed", "prioritized"]);
    expect(waiting.filter(job => job.data.source_id === one._id)).to.deep.equal([]);
  });
});
