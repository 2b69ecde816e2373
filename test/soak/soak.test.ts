// runs-alone: it runs a whole installation and stops processes and stores at random
// runs-long: npm test has test/flows, where processes are killed at exact steps
import { expect } from "chai";
import { deviating, deviations, table } from "./report.ts";
import { soak } from "./soak.ts";

/** A minute of what `npm run test:soak` does for longer (docs/reliability.md). */
const SHORT = { seed: "short", minutes: 0.5, mayHang: false, drainMs: 90_000 };

describe("a soak", function () {
  this.timeout(300_000);

  it("loses nothing, doubles nothing and leaves nothing behind, whatever is killed, frozen, filled or moved", async () => {
    const lines: string[] = [];
    const rows = await soak({
      ...SHORT,
      // Few processes, because each start takes a second of the machine; `npm run test:soak` has one for each queue.
      names: ["web-1", "web-2", "all-1", "all-2"],
      gapS: [0.5, 2],
      longestS: 3,
      say: line => lines.push(line),
    });
    const accepted = rows.find(({ what }) => what === "accepted");
    expect(accepted?.count).to.be.above(50);
    const published = rows.find(({ what }) => what === "accepted by publishing over HTTP");
    expect(published?.count).to.be.above(20);
    expect(deviations(rows), `${deviating(rows)}\n\n${lines.join("\n")}\n${table(rows)}\n`).to.equal(0);
  });
});
