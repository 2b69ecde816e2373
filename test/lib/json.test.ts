import { expect } from "chai";
import { canonicalJson } from "../../src/lib/json.ts";

describe("canonical JSON", () => {
  it("is the same whatever the order of keys is, at any depth, and keeps that of lists", () => {
    const one = canonicalJson({ a: 1, b: [{ d: null, c: "x" }], e: { g: 1, f: 2 } });
    expect(one).to.equal(canonicalJson({ e: { f: 2, g: 1 }, b: [{ c: "x", d: null }], a: 1 }));
    expect(canonicalJson([1, 2])).not.to.equal(canonicalJson([2, 1]));
    expect(JSON.parse(one)).to.deep.equal({ a: 1, b: [{ c: "x", d: null }], e: { f: 2, g: 1 } });
  });
});
