import { expect } from "chai";
import { effectsOf, emptyMemory, type Memory } from "../../src/runs/memory.ts";

const UNIQUE = { dedupe: "unique" } as const;

describe("the effects of a call", () => {
  const memory: Memory = { db: { n: 1 }, dedupe: { unique: ["a"] }, version: 4 };
  const emits = [{ event: 1, metadata: { id: "a" } }];

  it("keep the same memory object if the call changed nothing", () => {
    expect(effectsOf(UNIQUE, memory, { emits }).memory).to.equal(memory);
    expect(effectsOf(UNIQUE, memory, { emits: [], db: { n: 1 } }).memory).to.equal(memory);
    expect(effectsOf({}, memory, { emits }).memory).to.equal(memory);
  });

  it("have the db and the dedupe ids that changed, and the stored version", () => {
    const { memory: after } = effectsOf(UNIQUE, memory, {
      emits: [{ event: 2, metadata: { id: "b" } }],
      db: { n: 2 },
    });
    expect(after).to.deep.equal({ db: { n: 2 }, dedupe: { unique: ["a", "b"] }, version: 4 });
    expect(effectsOf(UNIQUE, memory, { emits: [], db: {} }).memory).to.deep.equal({ ...memory, db: {} });
  });

  it("have the events in order of `ts`, without those that dedupe drops", () => {
    const unordered = [
      { event: "late", metadata: { ts: 2, id: "late" } },
      { event: "early", metadata: { ts: 1, id: "early" } },
      { event: "again", metadata: { ts: 3, id: "early" } },
    ];
    const effects = effectsOf(UNIQUE, emptyMemory(), { emits: unordered });
    expect(effects.emits.map(({ event }) => event)).to.deep.equal(["early", "late"]);
    expect(effects.deduped).to.equal(1);
  });
});
