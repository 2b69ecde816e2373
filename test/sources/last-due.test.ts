import { getNextMillis } from "bullmq";
import { expect } from "chai";
import fc from "fast-check";
import type { StoredTimer } from "../../src/models/source.ts";
import { timerEvent } from "../../src/props/timer.ts";
import { lastDueMs } from "../../src/sources/next-due.ts";

const cron = (pattern: string, timezone: string | null = null): StoredTimer => ({
  cron: pattern,
  timezone,
  interval_seconds: null,
});

describe("a cron timer when the clocks change", () => {
  // Each time at which the timer is due, as UTC and as the local time that `run` receives.
  const changes: [string, string, string, string, [string, string][]][] = [
    [
      "at a time that a day in spring skips, ticks once that day, an hour later",
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
      "at a time that a day in autumn repeats, ticks the first time only",
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
      "every hour, ticks every hour that passes in spring",
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
      "every hour, ticks every hour that passes in autumn",
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

    it(`${what}: the last due time before any moment is the latest of these`, () => {
      const timer = cron(pattern, tz);
      const moments = wanted.map(([utc]) => Date.parse(utc));
      for (const [index, moment] of moments.entries()) {
        const next = moments[index + 1] ?? moment + 60_000;
        for (let now = moment + 1; now <= next; now += 97 * 60_000) {
          expect(lastDueMs(timer, now), new Date(now).toISOString()).to.equal(moment);
        }
        expect(lastDueMs(timer, next)).to.equal(moment);
      }
    });
  }

  it("has a last due time on a day that begins at one o'clock", () => {
    const midnight = cron("0 0 * * *", "America/Santiago");
    const days = ["2024-09-07T04:00Z", "2024-09-08T04:00Z", "2024-09-09T03:00Z"].map(utc => Date.parse(utc));
    expect(days.map(moment => lastDueMs(midnight, moment + 3_600_000))).to.deep.equal(days);
  });

  it("has the last due time that the scheduler itself would have", () => {
    const zones = ["UTC", "Europe/Berlin", "America/New_York", "America/Santiago", "Asia/Kathmandu"];
    const patterns = ["* * * * *", "*/7 3 * * *", "0 0 * * *", "30 2 1 * *", "0 9 * * MON", "15 6 29 2 *"];
    const cases = fc.record({
      pattern: fc.constantFrom(...patterns),
      tz: fc.constantFrom(...zones),
      now: fc.integer({ min: Date.UTC(2024, 0), max: Date.UTC(2027, 0) }),
    });
    fc.assert(
      fc.property(cases, ({ pattern, tz, now }) => {
        const last = lastDueMs(cron(pattern, tz), now) ?? 0;
        expect(last).to.be.lessThan(now);
        expect(getNextMillis(last, { pattern, tz })).to.be.at.least(now);
      }),
      { numRuns: 40 },
    );
  });

  it("has no last due time if it is an interval", () => {
    const interval = { cron: null, timezone: null, interval_seconds: 60 };
    expect(lastDueMs(interval, Date.now())).to.equal(null);
  });
});
