import { expect } from "chai";
import type { AppError } from "../../src/lib/errors.ts";
import { Shares } from "../../src/lib/shares.ts";

/** Returns the code of what `work` throws, with its wait. */
function codeOf(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    expect((error as AppError).retryAfterMs).to.equal(1000);
    return (error as AppError).code;
  }
}

describe("shares", () => {
  it("hold as much as an account and all accounts may have, and nothing beyond it", () => {
    const shares = new Shares({ perAccount: 10, total: 15, what: "bytes" });
    shares.hold("a", 9);
    expect(codeOf(() => shares.hold("a", 2))).to.equal("rate-limited");
    shares.hold("a", 1);
    expect(codeOf(() => shares.hold("b", 6))).to.equal("unavailable");
    shares.hold("b", 5);
    shares.release("a", 10);
    expect(codeOf(() => shares.hold("b", 6))).to.equal("rate-limited");
    expect(codeOf(() => shares.hold("c", 10))).to.equal(undefined);
  });

  it("of one account alone are bounded where there is no total", () => {
    const shares = new Shares({ perAccount: 1, what: "requests" });
    for (const account of ["a", "b", "c"]) shares.hold(account, 1);
    expect(codeOf(() => shares.hold("c", 1))).to.equal("rate-limited");
  });
});
