import { expect } from "chai";
import { divide } from "../../src/lib/divide.ts";

describe("a list that is divided", () => {
  const same = (n: number) => n;

  it("has parts up to a weight, in order, and a heavier entry by itself", () => {
    expect(divide([2, 3, 9, 1, 4, 1], 5, same)).to.deep.equal([[2, 3], [9], [1, 4], [1]]);
    expect(divide([9, 9], 5, same)).to.deep.equal([[9], [9]]);
    expect(divide([], 5, same)).to.deep.equal([]);
  });

  it("has parts up to a number of entries", () => {
    expect(divide([0, 0, 0, 1, 1], 5, same, 2)).to.deep.equal([[0, 0], [0, 1], [1]]);
  });
});
