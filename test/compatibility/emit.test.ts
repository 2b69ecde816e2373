// runs-long: npm test has test/compatibility/events.test.ts
import { expect } from "chai";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { openTestSandboxes } from "../examples/open-example.ts";
import { type Case, checkCase, openFixture } from "./fixture.ts";

const HUNDRED = Array.from({ length: 100 }, (_, n) => `n${n}`);
const LONG = "x".repeat(256);

const CASES: Case[] = [
  {
    rule: "$emit copies the event at once and can be awaited; ts orders the events of a run, oldest first",
    file: "emit/metadata.mjs",
    steps: [
      {
        emits: ["older", { n: 1 }, null, true, 0, [], { deep: { er: [1] } }],
        metadata: [
          { id: "2", ts: 1000 },
          { id: 1, name: "items", summary: "first", ts: 2000 },
          ...Array.from({ length: 5 }, () => ({ ts: 3000 })),
        ],
      },
    ],
  },
  {
    rule: "channels that start with $ are rejected; events emitted before are kept",
    file: "emit/reserved-channel.mjs",
    steps: [{ emits: ["kept"], error: { code: "TypeError", message: /must not start with \$/ } }],
  },
  {
    rule: "unique: each id once, as string or number; the last 100 ids are remembered; events without an id are always emitted",
    file: "emit/unique.mjs",
    steps: [
      { event: { ids: ["a", "b", "a", 1, "1", null, null] }, emits: ["a", "b", 1, null, null], dropped: 2 },
      { event: { ids: ["b", "c", 1, null] }, emits: ["c", null], dropped: 2 },
      { event: { ids: HUNDRED }, emits: HUNDRED },
      { event: { ids: ["a", "n0", "n1"] }, emits: ["a"], dropped: 2 },
      { event: { ids: ["n0", "n1"] }, emits: ["n0"], dropped: 1 },
    ],
  },
  {
    rule: "unique: ids over 256 characters are compared by their hash",
    file: "emit/unique.mjs",
    steps: [
      { event: { ids: [LONG, `${LONG}a`, `${LONG}b`] }, emits: [LONG, `${LONG}a`, `${LONG}b`] },
      { event: { ids: [LONG, `${LONG}a`, `${LONG}b`, `${LONG}c`] }, emits: [`${LONG}c`], dropped: 3 },
    ],
  },
  {
    rule: "greatest: only numbers above the highest so far",
    file: "emit/greatest.mjs",
    steps: [
      { event: { ids: [3, 1, "5", null, "five"] }, emits: [3, "5", null], dropped: 2 },
      { event: { ids: [5, 4.5, 6] }, emits: [6], dropped: 2 },
      { event: { ids: ["1234567890123456788"] }, emits: ["1234567890123456788"] },
      {
        event: { ids: ["1234567890123456788", "1234567890123456789", 7] },
        emits: ["1234567890123456789"],
        dropped: 2,
      },
    ],
  },
  {
    rule: "last: the events of a run after the remembered id, or all if it is not among them",
    file: "emit/last.mjs",
    steps: [
      { event: { ids: ["a", "b"] }, emits: ["a", "b"] },
      { event: { ids: ["a", null, "b", "c"] }, emits: [null, "c"], dropped: 2 },
      { event: { ids: ["x", "y"] }, emits: ["x", "y"] },
      { event: { ids: ["y"] }, emits: [], dropped: 1 },
      { event: { ids: [] }, emits: [] },
      { event: { ids: ["x", "y", "z"] }, emits: ["z"], dropped: 2 },
    ],
  },
  {
    rule: "db: get and set are synchronous and by value; it is saved if the run throws; at most 60 KB in total",
    file: "emit/database.mjs",
    steps: [
      {
        event: {},
        emits: [{ seen: [], absent: "undefined", shared: 0 }],
        db: { count: 1, seen: [1] },
      },
      {
        event: { fail: true },
        error: { code: "Error", message: /after the db was set/ },
        emits: [{ seen: [1], absent: "undefined", shared: 1 }],
        db: { count: 2, seen: [2] },
      },
      {
        event: { fill: 61_440 },
        error: { code: "RangeError", message: /db can hold at most 61440 bytes; with "fill"/ },
        db: { count: 3, seen: [3] },
      },
      { event: {}, emits: [{ seen: [3], absent: "undefined", shared: 3 }] },
    ],
  },
  {
    rule: "$emit works in deploy, and run does not emit the same events again",
    file: "emit/backfill.mjs",
    described: { hooks: ["deploy"], dedupe: "unique" },
    steps: [
      { call: "deploy", emits: [{ id: 1 }, { id: 2 }, { id: 3 }] },
      { emits: [{ id: 4 }], dropped: 1 },
    ],
  },
];

const MAX_BYTES = 512 * 1024;
const LIMITS: [what: string, event: object, kept: number, error: string | undefined][] = [
  ["10,000 events", { count: 10_000 }, 10_000, undefined],
  ["one event more", { count: 10_001 }, 10_000, "A run can emit at most 10000 events"],
  ["an event of 512 KB", { bytes: MAX_BYTES }, 1, undefined],
  [
    "one byte more",
    { bytes: MAX_BYTES + 1 },
    0,
    "An event can have at most 524288 bytes; this one has 524289",
  ],
];

describe("compatibility: $emit, dedupe, db", () => {
  let sandboxes: Sandboxes;

  before(async () => {
    sandboxes = await openTestSandboxes();
  });
  after(() => sandboxes?.close());

  for (const one of CASES) it(`${one.rule} (${one.file})`, () => checkCase(sandboxes, one));

  it("a run can emit at most 10,000 events of at most 512 KB each (emit/many.mjs)", async () => {
    const { call } = await openFixture(sandboxes, "emit/many.mjs");
    for (const [what, event, kept, message] of LIMITS) {
      const { emits, error } = await call("run", event);
      expect([emits.length, error?.message], what).to.deep.equal([kept, message]);
    }
  });
});
