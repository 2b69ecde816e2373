import { expect } from "chai";
import { isFar, isLeftToSweep } from "../../../src/deliveries/attempt/next-attempt.ts";
import { LIMITS } from "../../../src/limits/catalogue.ts";

describe("a far retry", () => {
  it("is one that is due later than a retry may be that has a drain", () => {
    const most = LIMITS.retryJobMs.value;
    expect([most, most + 1].map(isFar)).to.deep.equal([false, true]);
  });

  it("is left to the sweep as long as it was not swept", () => {
    expect(isLeftToSweep({ next_attempt_at_ms: 5, sweep_at_ms: 5 })).to.equal(true);
    expect(isLeftToSweep({ next_attempt_at_ms: 5, sweep_at_ms: 35 })).to.equal(false);
    expect(isLeftToSweep({ next_attempt_at_ms: null, sweep_at_ms: null })).to.equal(false);
  });
});
