import { expect } from "chai";
import fc from "fast-check";
import { truncate } from "../../src/events/truncate.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";

const kind = (value: unknown) => (Array.isArray(value) ? "array" : value === null ? "null" : typeof value);
const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

describe("truncate", () => {
  it("returns a value that fits unchanged", () => {
    const value = { a: "x".repeat(900), b: [1, 2, 3] };
    expect(truncate(value)).to.deep.equal({ value, truncated: false });
  });

  it("always fits, stays JSON, and keeps the outer type", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.integer({ min: 0, max: 3000 }), (inner, length) => {
        for (const event of [
          inner,
          { text: "ü".repeat(length), inner },
          ["😀".repeat(length), inner],
          "x".repeat(length),
        ]) {
          const { value, truncated } = truncate(event);
          expect(bytes(value)).to.be.at.most(LIMITS.summaryBytes.value);
          expect(kind(value)).to.equal(kind(event));
          expect(truncated).to.equal(bytes(event) > LIMITS.summaryBytes.value);
        }
      }),
    );
  });

  it("keeps the keys of an object that has only long texts", () => {
    const { value } = truncate({ id: 7, title: "t", body: "b".repeat(100_000) });
    expect(value).to.include({ id: 7, title: "t" });
  });

  it("keeps a key such as __proto__ as an ordinary key", () => {
    const event = JSON.parse(`{"__proto__": {"evil": true}, "long": "${"x".repeat(2000)}"}`);
    const { value } = truncate(event);
    expect(Object.keys(value as object)).to.include("__proto__");
    expect((value as { evil?: boolean }).evil).to.equal(undefined);
  });
});
