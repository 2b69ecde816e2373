import { expect } from "chai";
import fc from "fast-check";
import { type DedupeMemory, dedupe, inOrder } from "../../src/runs/dedupe.ts";
import type { Emit } from "../../src/sandbox/protocol.ts";

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

  it("greatest: tells whole numbers beyond 2^53 apart", () => {
    const [low, high, next] = ["1234567890123456788", "1234567890123456789", "1234567890123456790"];
    expect(runs("greatest", [low, high], [low, high, next], [5])).to.deep.equal([[low, high], [next], []]);
  });

  it("greatest: takes no text for a number, and none of it makes it forget", () => {
    expect(runs("greatest", [7], ["Infinity", " ", "NaN", "2024-01-01"], [6, 7, -8, 8.5])).to.deep.equal([
      [7],
      [],
      [8.5],
    ]);
    expect(runs("greatest", [-3, "-2"], [-2, 0])).to.deep.equal([[-3, "-2"], [0]]);
  });

  it("last: counts from the last event with the remembered id, and keeps it over runs without an id", () => {
    expect(runs("last", ["a"], ["a", "b", "a", "c"], [undefined], ["b", "c", "d"], [])).to.deep.equal([
      ["a"],
      ["c"],
      [undefined],
      ["d"],
      [],
    ]);
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
