import { expect } from "chai";
import { isFarRetry, waitsWithoutJob } from "../../../src/deliveries/attempt/far-retry.ts";
import { LIMITS } from "../../../src/limits/catalogue.ts";

describe("a far retry", () => {
  it("is one that is due later than a retry may be that has a job", () => {
    const most = LIMITS.retryJobMs.value;
    expect([most, most + 1].map(isFarRetry)).to.deep.equal([false, true]);
  });

  it("waits without a job as long as it was not swept", () => {
    expect(waitsWithoutJob({ next_attempt_at_ms: 5, sweep_at_ms: 5 })).to.equal(true);
    expect(waitsWithoutJob({ next_attempt_at_ms: 5, sweep_at_ms: 35 })).to.equal(false);
    expect(waitsWithoutJob({ next_attempt_at_ms: null, sweep_at_ms: null })).to.equal(false);
  });
});
