import { expect } from "chai";
import { outcomeOf } from "../../../src/deliveries/attempt/retry-policy.ts";
import type { Answer } from "../../../src/deliveries/attempt/send.ts";

const answer = (overrides: Partial<Answer>): Answer => ({
  status: null,
  latencyMs: 1,
  error: null,
  response: "",
  retryAfter: null,
  timedOut: false,
  ...overrides,
});
const rules = { scheduleMs: [5000], step: 1, busyFloorMs: 60_000, random: () => 0.5, nowMs: 0 };
const judge = (given: Partial<Answer>, step = 1) => outcomeOf(answer(given), { ...rules, step });

describe("outcome of an attempt", () => {
  for (const status of [200, 201, 202, 204, 299]) {
    it(`is delivered for ${status}`, () => {
      expect(judge({ status })).to.deep.equal({ kind: "delivered" });
    });
  }

  for (const status of [301, 302, 307, 400, 401, 404, 500, 502, 503, 599]) {
    it(`is a retry for ${status}: a redirect is not followed, a 4xx may be mended`, () => {
      expect(judge({ status })).to.deep.equal({ kind: "retry", delayMs: 5000 });
    });
  }

  it("is a retry where no answer came", () => {
    expect(judge({ error: "connect: refused" })).to.deep.equal({ kind: "retry", delayMs: 5000 });
  });

  it("is failed for 410, whatever is left of the schedule", () => {
    expect(judge({ status: 410 })).to.deep.equal({ kind: "failed", reason: "gone" });
  });

  it("waits for the floor after 429 and after a time-out", () => {
    expect(judge({ status: 429 })).to.deep.equal({ kind: "retry", delayMs: 60_000 });
    expect(judge({ timedOut: true })).to.deep.equal({ kind: "retry", delayMs: 60_000 });
  });

  it("honours Retry-After of any failure", () => {
    expect(judge({ status: 503, retryAfter: "8" })).to.deep.equal({ kind: "retry", delayMs: 8000 });
  });

  it("is exhausted after the last step", () => {
    expect(judge({ status: 500 }, 2)).to.deep.equal({ kind: "failed", reason: "exhausted" });
    expect(judge({ timedOut: true }, 2)).to.deep.equal({ kind: "failed", reason: "exhausted" });
  });
});
