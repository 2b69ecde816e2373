import { expect } from "chai";
import fc from "fast-check";
import { truncateJson } from "../../src/events/truncate.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";

const kind = (value: unknown) => (Array.isArray(value) ? "array" : value === null ? "null" : typeof value);
const truncated = (value: unknown) => JSON.parse(truncateJson(JSON.stringify(value)).json);

describe("an event in its summary", () => {
  it("is unchanged if it fits", () => {
    const json = JSON.stringify({ a: "x".repeat(900), b: [1, 2, 3] }, null, 1);
    expect(truncateJson(json)).to.deep.equal({ json, truncated: false });
  });

  it("always fits, stays JSON, and keeps the outer type", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat(3000), fc.nat(2), (inner, length, spaces) => {
        for (const event of [
          inner,
          { text: "ü".repeat(length), inner },
          ["😀".repeat(length), inner],
          "x".repeat(length),
          { '"}]': '\\"'.repeat(length), inner },
        ]) {
          const json = JSON.stringify(event, null, spaces);
          const { json: shorter, truncated: isTruncated } = truncateJson(json);
          expect(Buffer.byteLength(shorter)).to.be.at.most(LIMITS.summaryBytes.value);
          expect(kind(JSON.parse(shorter))).to.equal(kind(event));
          expect(isTruncated).to.equal(Buffer.byteLength(json) > LIMITS.summaryBytes.value);
        }
      }),
    );
  });

  it("keeps the keys of an object that has only long texts", () => {
    expect(truncated({ id: 7, title: "t", body: "b".repeat(100_000) })).to.include({ id: 7, title: "t" });
  });

  it("keeps a key such as __proto__ as an ordinary key", () => {
    const event = JSON.parse(`{"__proto__": {"evil": true}, "long": "${"x".repeat(2000)}"}`);
    const value = truncated(event);
    expect(Object.keys(value)).to.include("__proto__");
    expect(value.evil).to.equal(undefined);
  });

  it("keeps numbers as they were written, and the order of keys", () => {
    const kept = '"z":7615917337495251231,"9":1e400,"a":-0,"b":1.0,"c":[0.1e-7]';
    const { json } = truncateJson(`{${kept},"long":"${"x".repeat(2000)}","n":${"1".repeat(2000)}}`);
    expect(json).to.match(
      /^\{"z":7615917337495251231,"9":1e400,"a":-0,"b":1\.0,"c":\[0\.1e-7\],"long":"x+…","n":null\}$/,
    );
  });
});
