import { expect } from "chai";
import { describe as inWords, planFaults } from "./faults.ts";
import { SeededRandom } from "./seeded-random.ts";

const MEANS = { names: ["web-1", "runs-1"], disks: [], gapS: [1, 2] as [number, number], longestS: 5 };

/** The first faults of a seed, in words. */
function planned(seed: string): string[] {
  const plan = planFaults(new SeededRandom(seed).stream("faults"), MEANS);
  return Array.from({ length: 200 }, () => {
    const { afterMs, faults } = plan.next().value;
    return `${afterMs} ${faults.map(inWords).join(" and ")}`;
  });
}

describe("the faults of a soak", () => {
  it("are the same with the same seed, and others with another", () => {
    expect(planned("1")).to.deep.equal(planned("1"));
    expect(planned("2")).not.to.deep.equal(planned("1"));
  });

  it("are of every kind, and none lasts longer than it may", () => {
    const all = planned("3").join("\n");
    for (const kind of [
      /kill -9 web-1/,
      /SIGTERM/,
      /freeze runs-1/,
      /away redis/,
      /primary/,
      /clock of runs-1/,
      / and /,
    ]) {
      expect(all).to.match(kind);
    }
    const lengths = [...all.matchAll(/for ([\d.]+) s/g)].map(match => Number(match[1]));
    // The clock is off for twice as long.
    expect(Math.max(...lengths)).to.be.at.most(2 * MEANS.longestS);
  });
});
