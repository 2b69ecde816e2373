import { expect } from "chai";
import fc from "fast-check";
import {
  decide,
  nextDelayMs,
  parseRetryAfter,
  scheduleOf,
} from "../../../src/deliveries/attempt/retry-policy.ts";
import type { EndpointResponse } from "../../../src/destinations/message.ts";

const response = (overrides: Partial<EndpointResponse>): EndpointResponse => ({
  status: null,
  latencyMs: 1,
  error: null,
  response: "",
  retryAfter: null,
  timedOut: false,
  ...overrides,
});
const rules = { scheduleMs: [5000], retryIndex: 1, busyFloorMs: 60_000, random: () => 0.5, nowMs: 0 };
const decided = (overrides: Partial<EndpointResponse>, retryIndex = 1) =>
  decide(response(overrides), { ...rules, retryIndex });

describe("the decision after an attempt", () => {
  for (const status of [200, 201, 202, 204, 299]) {
    it(`is delivered for ${status}`, () => {
      expect(decided({ status })).to.deep.equal({ kind: "delivered" });
    });
  }

  // A redirect is not followed, and the cause of a 4xx may be fixed by then.
  for (const status of [301, 302, 307, 400, 401, 404, 500, 502, 503, 599]) {
    it(`is a retry for ${status}`, () => {
      expect(decided({ status })).to.deep.equal({ kind: "retry", delayMs: 5000 });
    });
  }

  it("is that nothing more is sent for 410, and for what else the receiver's kind says it by", () => {
    expect(decided({ status: 410 })).to.deep.equal({ kind: "failed", reason: "gone" });
    expect(decided({ status: 413 })).to.deep.equal({ kind: "retry", delayMs: 5000 });
    const ofAgent = decide(response({ status: 413 }), { ...rules, goneStatuses: [410, 413] });
    expect(ofAgent).to.deep.equal({ kind: "failed", reason: "gone" });
  });

  it("is a retry if no response arrived", () => {
    expect(decided({ error: "connect: refused" })).to.deep.equal({ kind: "retry", delayMs: 5000 });
  });

  it("is failed (gone) for 410, whatever is left of the schedule", () => {
    expect(decided({ status: 410 })).to.deep.equal({ kind: "failed", reason: "gone" });
  });

  it("waits at least 60 s after a 429 or a time-out", () => {
    expect(decided({ status: 429 })).to.deep.equal({ kind: "retry", delayMs: 60_000 });
    expect(decided({ timedOut: true })).to.deep.equal({ kind: "retry", delayMs: 60_000 });
  });

  it("honours the Retry-After of any failure", () => {
    expect(decided({ status: 503, retryAfter: "8" })).to.deep.equal({ kind: "retry", delayMs: 8000 });
  });

  it("is failed (exhausted) after the last step of the schedule", () => {
    expect(decided({ status: 500 }, 2)).to.deep.equal({ kind: "failed", reason: "exhausted" });
    expect(decided({ timedOut: true }, 2)).to.deep.equal({ kind: "failed", reason: "exhausted" });
  });
});

const MINUTE = 60_000;
const wait = (overrides: Partial<Parameters<typeof nextDelayMs>[0]>) => ({
  scheduleMs: [5000, 5 * MINUTE],
  retryIndex: 1,
  retryAfterMs: null,
  isBusy: false,
  busyFloorMs: MINUTE,
  random: () => 0.5,
  ...overrides,
});

describe("retry schedule", () => {
  it("returns the delay of each step, and null after the last step", () => {
    expect(nextDelayMs(wait({ retryIndex: 1 }))).to.equal(5000);
    expect(nextDelayMs(wait({ retryIndex: 2 }))).to.equal(5 * MINUTE);
    expect(nextDelayMs(wait({ retryIndex: 3 }))).to.equal(null);
  });

  it("is the webhook's own if it has one, shorter where it is ordered", () => {
    const own = { ordered: false, retry_schedule: ["5s", "1500ms", "2h"] };
    expect(scheduleOf([1000], own)).to.deep.equal([5000, 1500, 120 * MINUTE]);
    expect(scheduleOf([1000], { ...own, ordered: true })).to.deep.equal([5000, 1500, 60 * MINUTE]);
    expect(scheduleOf([1000], { ordered: false, retry_schedule: [] })).to.deep.equal([]);
    for (const none of [{}, { retry_schedule: null }]) {
      expect(scheduleOf([1000], { ordered: false, ...none })).to.deep.equal([1000]);
    }
  });

  it("limits each step of an ordered webhook to an hour, and keeps the number of steps", () => {
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
          const delayMs = nextDelayMs(wait({ scheduleMs: [delay], random: () => random })) ?? Number.NaN;
          expect(delayMs).to.be.within(Math.floor(delay * 0.8), Math.ceil(delay * 1.2));
        },
      ),
    );
  });

  const ASKED: [asked: string, isBusy: boolean, waits: number][] = [
    ["7", false, 7000],
    ["1", false, 5000],
    ["120", false, 120_000],
    ["3600", false, 3_600_000],
    ["3600", true, 3_600_000],
    ["1", true, MINUTE],
    ["86400", false, 120 * MINUTE + 5000],
    ["86400", true, 120 * MINUTE + 5000],
    ["soon", false, 5000],
  ];
  for (const [asked, isBusy, waits] of ASKED) {
    it(`waits for the later of the step and Retry-After: ${asked} of ${isBusy ? 429 : 503}, up to 2 h more`, () => {
      const status = isBusy ? 429 : 503;
      expect(decided({ status, retryAfter: asked })).to.deep.equal({ kind: "retry", delayMs: waits });
    });
  }

  it("waits at least 60 s after a 429 or a time-out, and longer if the step is longer", () => {
    expect(nextDelayMs(wait({ isBusy: true }))).to.equal(MINUTE);
    expect(nextDelayMs(wait({ isBusy: true, retryAfterMs: 6000 }))).to.equal(MINUTE);
    expect(nextDelayMs(wait({ isBusy: true, retryIndex: 2 }))).to.equal(5 * MINUTE);
  });

  it("ends the schedule after a busy response too", () => {
    expect(nextDelayMs(wait({ isBusy: true, retryIndex: 3, retryAfterMs: 1000 }))).to.equal(null);
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

  it("ignores anything else", () => {
    for (const text of [null, "", "-5", "1.5", "soon", "1e3", "Someday, 99 Foo 2030"]) {
      expect(parseRetryAfter(text, now), String(text)).to.equal(null);
    }
  });

  it("never throws, whatever an endpoint sends", () => {
    fc.assert(
      fc.property(fc.string(), text => {
        const ms = parseRetryAfter(text, now);
        expect(ms === null || (Number.isFinite(ms) && ms >= 0)).to.equal(true);
      }),
    );
  });
});
