import { expect } from "chai";
import { OpenCounts } from "../../src/lib/open-counts.ts";

describe("counts of what is open", () => {
  it("let each have as many as it may, and one more for each that is closed", () => {
    const counts = new OpenCounts();
    const [first, second] = [counts.open("ann", 2), counts.open("ann", 2)];
    expect(counts.open("ann", 2)).to.equal(null);
    expect(counts.open("bert", 1)).to.be.a("function");
    first?.();
    expect(counts.open("ann", 2)).to.be.a("function");
    expect(counts.open("ann", 2)).to.equal(null);
    second?.();
    expect(counts.open("ann", 2)).to.be.a("function");
  });
});
