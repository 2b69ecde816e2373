import { expect } from "chai";
import fc from "fast-check";
import {
  nextDelayMs,
  parseRetryAfter,
  scheduleOf,
  type Wait,
} from "../../../src/deliveries/attempt/schedule.ts";

const MINUTE = 60_000;
const wait = (overrides: Partial<Wait>): Wait => ({
  scheduleMs: [5000, 5 * MINUTE],
  step: 1,
  retryAfterMs: null,
  busy: false,
  busyFloorMs: MINUTE,
  random: () => 0.5,
  ...overrides,
});

describe("retry schedule", () => {
  it("takes the step's delay, and ends after the last", () => {
    expect(nextDelayMs(wait({ step: 1 }))).to.equal(5000);
    expect(nextDelayMs(wait({ step: 2 }))).to.equal(5 * MINUTE);
    expect(nextDelayMs(wait({ step: 3 }))).to.equal(null);
  });

  it("waits at the head of an ordered line an hour at most, as often as elsewhere", () => {
    const scheduleMs = [5000, 30 * MINUTE, 120 * MINUTE, 600 * MINUTE];
    expect(scheduleOf(scheduleMs, { ordered: true })).to.deep.equal([
      5000,
      30 * MINUTE,
      60 * MINUTE,
      60 * MINUTE,
    ]);
    expect(scheduleOf(scheduleMs, { ordered: false })).to.equal(scheduleMs);
  });

  it("spreads every step by at most 20 % to either side", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1e9 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (delay, random) => {
          const given = nextDelayMs(wait({ scheduleMs: [delay], random: () => random })) ?? Number.NaN;
          expect(given).to.be.within(Math.floor(delay * 0.8), Math.ceil(delay * 1.2));
        },
      ),
    );
  });

  it("honours Retry-After between once and twice the step", () => {
    expect(nextDelayMs(wait({ retryAfterMs: 7000 }))).to.equal(7000);
    expect(nextDelayMs(wait({ retryAfterMs: 1000 }))).to.equal(5000);
    expect(nextDelayMs(wait({ retryAfterMs: 86_400_000 }))).to.equal(10_000);
  });

  it("waits for the floor after a 429 or a time-out, and longer where the step says so", () => {
    expect(nextDelayMs(wait({ busy: true }))).to.equal(MINUTE);
    expect(nextDelayMs(wait({ busy: true, retryAfterMs: 6000 }))).to.equal(MINUTE);
    expect(nextDelayMs(wait({ busy: true, step: 2 }))).to.equal(5 * MINUTE);
  });

  it("ends the schedule after a busy answer too", () => {
    expect(nextDelayMs(wait({ busy: true, step: 3, retryAfterMs: 1000 }))).to.equal(null);
  });
});

describe("Retry-After", () => {
  const now = Date.parse("2030-01-01T00:00:00Z");

  it("reads seconds and HTTP dates", () => {
    expect(parseRetryAfter("120", now)).to.equal(120_000);
    expect(parseRetryAfter(" 0 ", now)).to.equal(0);
    expect(parseRetryAfter("Tue, 01 Jan 2030 00:02:00 GMT", now)).to.equal(120_000);
    expect(parseRetryAfter("Mon, 31 Dec 2029 23:00:00 GMT", now)).to.equal(0);
  });

  it("takes anything else as absent", () => {
    for (const text of [null, "", "-5", "1.5", "soon", "1e3", "Someday, 99 Foo 2030"]) {
      expect(parseRetryAfter(text, now), String(text)).to.equal(null);
    }
  });

  it("never throws, whatever an endpoint sends", () => {
    fc.assert(
      fc.property(fc.string(), text => {
        const given = parseRetryAfter(text, now);
        expect(given === null || (Number.isFinite(given) && given >= 0)).to.equal(true);
      }),
    );
  });
});
