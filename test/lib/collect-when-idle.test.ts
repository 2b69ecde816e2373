import { expect } from "chai";
import { collectWhenIdle } from "../../src/lib/collect-when-idle.ts";
import { until } from "../support/until.ts";

const MB = 1024 * 1024;
/** Arrays of one MB each. */
const MOST_WASTE = 256;

describe("the garbage of an idle process", () => {
  it("is collected twice, and again after the heap has grown", async () => {
    let collections = 0;
    let looks = 0;
    const gc = () => {
      collections += 1;
    };
    const end = collectWhenIdle({ gc, lookMs: 5 });
    const look = setInterval(() => {
      looks += 1;
    }, 5);
    const waste: number[][] = [];
    try {
      await until(() => collections === 2);
      const seen = looks;
      await until(() => looks > seen + 20);
      expect(collections).to.equal(2);
      // More at each look: V8 may have room that it reserved before, and the heap of the tests before may shrink.
      await until(() => {
        if (collections === 4) return true;
        if (waste.length < MOST_WASTE) waste.push(Array.from({ length: MB / 8 }, (_, n) => n + 0.5));
        return false;
      });
    } finally {
      end();
      clearInterval(look);
    }
    expect(waste).to.not.be.empty;
  });

  it("is collected again although the heap shrinks only a moment after a collection", async () => {
    let collections = 0;
    let heap = 70 * MB;
    let least = heap;
    const gc = () => {
      collections += 1;
      if (collections === 1) setTimeout(() => (heap = 40 * MB), 20);
    };
    const heapBytes = () => {
      least = Math.min(least, heap);
      return heap;
    };
    const end = collectWhenIdle({ gc, heapBytes, lookMs: 5 });
    try {
      await until(() => least === 40 * MB && collections === 2);
      // Less than it had at the collection.
      heap = 60 * MB;
      await until(() => collections === 4);
    } finally {
      end();
    }
  });

  it("is left to V8 where the process may not collect it", () => {
    expect(collectWhenIdle()).to.be.a("function");
  });
});
