import { expect } from "chai";
import fc from "fast-check";
import type { Emit } from "../../src/sandbox/protocol.ts";
import { type DedupeMemory, dedupe, inOrder } from "../../src/sources/dedupe.ts";

const emit = (id?: string | number, ts?: number): Emit => ({
  event: id ?? null,
  metadata: { ...(id !== undefined && { id }), ...(ts !== undefined && { ts }) },
});
const ids = (emits: Emit[]) => emits.map(({ metadata }) => metadata.id);

/** The ids kept of several runs, one after the other. */
function runs(strategy: "unique" | "greatest" | "last", ...batches: (string | number | undefined)[][]) {
  let memory: DedupeMemory = {};
  return batches.map(batch => {
    const result = dedupe(
      strategy,
      memory,
      batch.map(id => emit(id)),
    );
    memory = JSON.parse(JSON.stringify(result.memory));
    expect(result.kept.length + result.dropped).to.equal(batch.length);
    return ids(result.kept);
  });
}

describe("dedupe", () => {
  it("without a strategy passes everything", () => {
    expect(dedupe(undefined, {}, [emit(1), emit(1)]).kept).to.have.length(2);
  });

  it("unique: passes an id once, within a run and over runs", () => {
    expect(runs("unique", ["a", "b", "a"], ["b", "c"])).to.deep.equal([["a", "b"], ["c"]]);
  });

  it("unique: remembers the last 100 ids, first in first out", () => {
    const hundred = Array.from({ length: 100 }, (_, i) => `n${i}`);
    expect(runs("unique", ["old"], hundred, ["old", "n50"])[2]).to.deep.equal(["old"]);
  });

  it("unique: tells ids over 256 characters apart by their hash", () => {
    const long = "x".repeat(300);
    expect(runs("unique", [`${long}a`, `${long}b`], [`${long}a`])).to.deep.equal([
      [`${long}a`, `${long}b`],
      [],
    ]);
  });

  it("greatest: passes only numbers above the highest so far", () => {
    expect(runs("greatest", [1, 3, 2], [3, 4, "5"], ["no number"])).to.deep.equal([[1, 3], [4, "5"], []]);
  });

  it("last: passes what comes after the remembered id, or all when it is not there", () => {
    expect(runs("last", ["a", "b"], ["a", "b", "c"], ["x", "y"])).to.deep.equal([
      ["a", "b"],
      ["c"],
      ["x", "y"],
    ]);
  });

  it("always passes events without an id", () => {
    for (const strategy of ["unique", "greatest", "last"] as const) {
      expect(runs(strategy, [undefined, undefined], [undefined])).to.deep.equal([
        [undefined, undefined],
        [undefined],
      ]);
    }
  });
});

describe("the order of a run's events", () => {
  it("is by ts, oldest first, and stable; without any ts as emitted", () => {
    expect(ids(inOrder([emit("b", 2), emit("a", 1), emit("a2", 1)]))).to.deep.equal(["a", "a2", "b"]);
    expect(ids(inOrder([emit("z"), emit("y")]))).to.deep.equal(["z", "y"]);
  });

  it("loses none and doubles none", () => {
    const entry = fc.tuple(fc.integer(), fc.option(fc.integer(), { nil: undefined }));
    fc.assert(
      fc.property(fc.array(entry), entries => {
        const emits = entries.map(([id, ts]) => emit(id, ts));
        expect([...inOrder(emits)].sort()).to.have.members(emits);
      }),
    );
  });
});
