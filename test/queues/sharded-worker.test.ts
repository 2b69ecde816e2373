import { expect } from "chai";
import fc from "fast-check";
import { shareOutSlots } from "../../src/queues/sharded-worker.ts";

const even = (held: number[], slots = 8) => held.map(one => ({ slots, held: one }));

describe("slots shared out over shards", () => {
  it("are even while no shard uses all it has", () => {
    expect(shareOutSlots(32, even([0, 3, 0, 1]))).to.deep.equal([8, 8, 8, 8]);
  });

  it("go to the shard that has work, but for a reserve of the others", () => {
    expect(shareOutSlots(32, even([8, 0, 0, 0]))).to.deep.equal([26, 2, 2, 2]);
  });

  it("come back as the jobs of the one that had them end", () => {
    const borrowed = [
      { slots: 26, held: 26 },
      { slots: 2, held: 2 },
      { slots: 2, held: 0 },
      { slots: 2, held: 0 },
    ];
    const [first = 0, second = 0] = shareOutSlots(32, borrowed);
    expect(first).to.be.below(26);
    expect(second, "what the first still holds is not free").to.equal(2);
    borrowed[0] = { slots: first, held: 10 };
    expect(shareOutSlots(32, borrowed)[1]).to.be.above(8);
  });

  it("are even if all have work", () => {
    expect(shareOutSlots(32, even([8, 8, 8, 8]))).to.deep.equal([8, 8, 8, 8]);
  });

  it("are one each if there are more shards than slots", () => {
    expect(shareOutSlots(2, even([1, 0, 1, 0], 1))).to.deep.equal([1, 1, 1, 1]);
  });

  it("are at least one, and together no more than there are beside what is held", () => {
    const use = fc.record({ slots: fc.integer({ min: 1, max: 40 }), held: fc.integer({ min: 0, max: 40 }) });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 64 }),
        fc.array(use, { minLength: 1, maxLength: 8 }),
        (total, uses) => {
          const slots = shareOutSlots(total, uses);
          expect(Math.min(...slots)).to.be.at.least(1);
          const before = uses.reduce((sum, one) => sum + Math.max(one.slots, one.held), 0);
          const after = uses.reduce((sum, { held }, i) => sum + Math.max(held, slots[i] ?? 0), 0);
          expect(after).to.be.at.most(Math.max(total, before, uses.length));
        },
      ),
    );
  });
});
