import { expect } from "chai";
import fc from "fast-check";
import { type DedupeMemory, dedupe, inOrder } from "../../src/runs/dedupe.ts";
import type { Emit } from "../../src/sandbox/protocol.ts";

const emit = (id?: string | number, ts?: number): Emit => ({
  event: id ?? null,
  metadata: { ...(id !== undefined && { id }), ...(ts !== undefined && { ts }) },
});
const ids = (emits: Emit[]) => emits.map(({ metadata }) => metadata.id);

/** Returns the ids kept of several runs, one after the other. */
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
  it("keeps every event without a strategy", () => {
    expect(dedupe(undefined, {}, [emit(1), emit(1)]).kept).to.have.length(2);
  });

  it("unique: keeps one event of each id, within a run and across runs", () => {
    expect(runs("unique", ["a", "b", "a"], ["b", "c"])).to.deep.equal([["a", "b"], ["c"]]);
  });

  it("unique: remembers the last 100 ids, first in first out", () => {
    const hundred = Array.from({ length: 100 }, (_, i) => `n${i}`);
    expect(runs("unique", ["old"], hundred, ["old", "n50"])[2]).to.deep.equal(["old"]);
  });

  it("unique: distinguishes ids longer than 256 characters", () => {
    const long = "x".repeat(300);
    expect(runs("unique", [`${long}a`, `${long}b`], [`${long}a`])).to.deep.equal([
      [`${long}a`, `${long}b`],
      [],
    ]);
  });

  it("greatest: keeps only numbers above the highest so far", () => {
    expect(runs("greatest", [1, 3, 2], [3, 4, "5"], ["no number"])).to.deep.equal([[1, 3], [4, "5"], []]);
  });

  it("greatest: distinguishes integers beyond 2^53", () => {
    const [low, high, next] = ["1234567890123456788", "1234567890123456789", "1234567890123456790"];
    expect(runs("greatest", [low, high], [low, high, next], [5])).to.deep.equal([[low, high], [next], []]);
  });

  it("greatest: drops ids that are not numbers, and still remembers the highest", () => {
    expect(runs("greatest", [7], ["Infinity", " ", "NaN", "2024-01-01"], [6, 7, -8, 8.5])).to.deep.equal([
      [7],
      [],
      [8.5],
    ]);
    expect(runs("greatest", [-3, "-2"], [-2, 0])).to.deep.equal([[-3, "-2"], [0]]);
  });

  it("greatest: says which id is not a number, so that nothing is dropped silently", () => {
    const emits = ["7-NaN", 8, "x"].map(id => ({ event: id, metadata: { id } }));
    expect(dedupe("greatest", {}, emits).notice).to.equal(
      'dedupe "greatest": 2 events were dropped, because the id is not a number: "7-NaN"',
    );
    expect(dedupe("greatest", {}, emits.slice(1, 2))).not.to.have.property("notice");
  });

  it("last: drops events up to the last one with the remembered id, which runs without an id do not change", () => {
    expect(runs("last", ["a"], ["a", "b", "a", "c"], [undefined], ["b", "c", "d"], [])).to.deep.equal([
      ["a"],
      ["c"],
      [undefined],
      ["d"],
      [],
    ]);
  });

  it("last: keeps the events after the remembered id, or all if it is missing", () => {
    expect(runs("last", ["a", "b"], ["a", "b", "c"], ["x", "y"])).to.deep.equal([
      ["a", "b"],
      ["c"],
      ["x", "y"],
    ]);
  });

  it("always keeps events without an id", () => {
    for (const strategy of ["unique", "greatest", "last"] as const) {
      expect(runs(strategy, [undefined, undefined], [undefined])).to.deep.equal([
        [undefined, undefined],
        [undefined],
      ]);
    }
  });
});

describe("inOrder", () => {
  it("sorts by ts, oldest first, and is stable; without any ts, it changes nothing", () => {
    expect(ids(inOrder([emit("b", 2), emit("a", 1), emit("a2", 1)]))).to.deep.equal(["a", "a2", "b"]);
    expect(ids(inOrder([emit("z"), emit("y")]))).to.deep.equal(["z", "y"]);
  });

  it("neither loses nor duplicates an event", () => {
    const entry = fc.tuple(fc.integer(), fc.option(fc.integer(), { nil: undefined }));
    fc.assert(
      fc.property(fc.array(entry), entries => {
        const emits = entries.map(([id, ts]) => emit(id, ts));
        expect([...inOrder(emits)].sort()).to.have.members(emits);
      }),
    );
  });
});
