import { expect } from "chai";
import fc from "fast-check";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { type DedupeMemory, type DedupeSettings, dedupe, inOrder } from "../../src/runs/dedupe.ts";
import type { Emit } from "../../src/sandbox/protocol.ts";

const emit = (id?: string | number, ts?: number): Emit => ({
  event: id ?? null,
  metadata: { ...(id !== undefined && { id }), ...(ts !== undefined && { ts }) },
});
const ids = (emits: Emit[]) => emits.map(({ metadata }) => metadata.id);

/** Returns the ids kept of several runs, one after the other. */
function runs(
  asked: NonNullable<DedupeSettings["dedupe"]> | Remembering,
  ...batches: (string | number | undefined)[][]
) {
  const settings = typeof asked === "string" ? { dedupe: asked } : asked;
  let memory: DedupeMemory = {};
  return batches.map(batch => {
    const result = dedupe(
      settings,
      memory,
      batch.map(id => emit(id)),
    );
    memory = JSON.parse(JSON.stringify(result.memory));
    expect(result.kept.length + result.dropped).to.equal(batch.length);
    return ids(result.kept);
  });
}

interface Remembering {
  dedupe: "unique";
  remember: number;
}
const remembering = (remember: number): Remembering => ({ dedupe: "unique", remember });
/** Ids that are kept as they are, and longer ones. */
const numbered = (count: number, prefix = "n") => Array.from({ length: count }, (_, i) => `${prefix}${i}`);
const LONG = "an-id-over-16-characters-";

describe("dedupe", () => {
  it("keeps every event without a strategy", () => {
    expect(dedupe({}, {}, [emit(1), emit(1)]).kept).to.have.length(2);
  });

  it("unique: keeps one event of each id, within a run and across runs", () => {
    expect(runs("unique", ["a", "b", "a"], ["b", "c"])).to.deep.equal([["a", "b"], ["c"]]);
  });

  it("unique: remembers the last 100 ids, first in first out", () => {
    const hundred = Array.from({ length: 100 }, (_, i) => `n${i}`);
    expect(runs("unique", ["old"], hundred, ["old", "n50"])[2]).to.deep.equal(["old"]);
  });

  for (const prefix of ["n", LONG]) {
    it(`unique: remembers as many ids such as ${prefix}1 as the component asks for, first in first out`, () => {
      const all = numbered(1000, prefix);
      const [first, again, older] = runs(
        remembering(1000),
        all,
        [...all, "new"],
        [`${prefix}0`, `${prefix}2`],
      );
      expect(first).to.deep.equal(all);
      expect(again).to.deep.equal(["new"]);
      expect(older).to.deep.equal([`${prefix}0`]);
    });
  }

  it("unique: remembers over any runs what a list of the last ids would", () => {
    const id = fc.oneof(
      fc.integer({ min: 0, max: 400 }),
      fc.nat(400).map(n => LONG + n),
    );
    const batches = fc.array(fc.array(id, { maxLength: 150 }), { maxLength: 12 });
    fc.assert(
      fc.property(batches, fc.integer({ min: 100, max: 300 }), (given, most) => {
        let list: string[] = [];
        const expected = given.map(batch => {
          const kept = batch.filter(one => !list.includes(String(one)) && list.push(String(one)));
          list = list.slice(-most);
          return kept;
        });
        expect(runs(remembering(most), ...given)).to.deep.equal(expected);
      }),
      { numRuns: 50 },
    );
  });

  it("unique: goes on with the ids that it remembered before a component asked for more, and the other way round", () => {
    const memory: DedupeMemory = { unique: numbered(100, LONG) };
    const more = dedupe(
      remembering(200),
      memory,
      numbered(150, LONG).map(id => emit(id)),
    );
    expect(ids(more.kept)).to.deep.equal(numbered(150, LONG).slice(100));
    expect(dedupe(remembering(200), more.memory, [emit(`${LONG}0`)]).dropped).to.equal(1);
    // What a release before knows of it.
    expect(more.memory.unique).to.deep.equal(numbered(150, LONG).slice(50));
    const fewer = dedupe({ dedupe: "unique" }, more.memory, [emit("another")]);
    expect(fewer.memory).to.deep.equal({ unique: [...numbered(150, LONG).slice(51), "another"] });
  });

  it("unique: takes at most 128 KB for the ids that it remembers", () => {
    const longest = numbered(10_000, "x".repeat(251)).map(id => emit(id));
    const { memory } = dedupe(remembering(LIMITS.rememberedIds.value), {}, longest);
    expect(Buffer.byteLength(JSON.stringify(memory))).to.be.below(128 * 1024);
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
    expect(dedupe({ dedupe: "greatest" }, {}, emits).notice).to.equal(
      'dedupe "greatest": 2 events were dropped, because the id is not a number: "7-NaN"',
    );
    expect(dedupe({ dedupe: "greatest" }, {}, emits.slice(1, 2))).not.to.have.property("notice");
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
