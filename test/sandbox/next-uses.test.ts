import { expect } from "chai";
import { NextUses } from "../../src/sandbox/next-uses.ts";

const MINUTE = 60_000;

describe("when the key of a sandbox is used next", () => {
  /** Returns the keys, the one that is used last first. */
  function lastFirst(uses: NextUses, nowMs: number, keys: string[]): string[] {
    return [...keys].sort((a, b) => uses.expectedAt(b, nowMs) - uses.expectedAt(a, nowMs));
  }

  it("follows the rhythm of timers, so that the one that has just run is used last", () => {
    const uses = new NextUses();
    for (const round of [0, 1, 2]) {
      for (const [at, key] of ["first", "second", "third"].entries())
        uses.used(key, round * MINUTE + at * 1000);
    }
    const now = 2 * MINUTE + 3000;
    expect(uses.expectedAt("first", now)).to.equal(3 * MINUTE);
    expect(lastFirst(uses, now, ["first", "second", "third"])).to.deep.equal(["third", "second", "first"]);
  });

  it("is late for one that is overdue, and latest for one that was used once", () => {
    const uses = new NextUses();
    uses.used("once", 4 * MINUTE);
    for (const at of [0, MINUTE]) uses.used("overdue", at);
    for (const at of [3 * MINUTE, 4 * MINUTE]) uses.used("due", at);
    expect(lastFirst(uses, 4 * MINUTE + 1, ["due", "once", "overdue"])).to.deep.equal([
      "once",
      "overdue",
      "due",
    ]);
  });
});
