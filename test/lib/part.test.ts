import { expect } from "chai";
import { derivedId, newId } from "../../src/lib/ids.ts";
import { hasId, hasNumber, ofPart, WHOLE } from "../../src/lib/part.ts";

describe("parts of ids", () => {
  const partsOf = (of: number) => Array.from({ length: of }, (_, index) => ({ index, of }));
  const ids = [
    ...Array.from({ length: 300 }, () => newId("dc")),
    ...Array.from({ length: 300 }, (_, n) => derivedId("dlv", 1, `${n}`)),
    ...["bad:id", "dc_", "ü", "a b-", "0"],
  ];

  it("hold every id once, for a query as for this process", () => {
    for (const of of [1, 2, 3, 8, 62]) {
      const parts = partsOf(of);
      for (const id of ids) {
        const own = parts.filter(part => hasId(part, id));
        expect(own, id).to.have.length(1);
        const found = parts.filter(part => new RegExp(ofPart(part).$regex ?? "").test(id));
        expect(found, id).to.deep.equal(own);
      }
    }
  });

  it("hold about as many each", () => {
    for (const part of partsOf(4)) {
      expect(ids.filter(id => hasId(part, id)).length).to.be.within(90, 220);
    }
  });

  it("of numbers take turns, and the whole demands nothing", () => {
    expect([0, 1, 2, 3, 4].filter(number => hasNumber({ index: 1, of: 3 }, number))).to.deep.equal([1, 4]);
    expect(ofPart(WHOLE)).to.deep.equal({});
  });
});
