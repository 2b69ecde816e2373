const { writeFileSync } = require("node:fs");
const { reporters } = require("mocha");

// Far longer than any clean end takes.
const HANG_MS = 20_000;

/** Mocha's spec output; the counts also go to the file HEADWATER_TEST_COUNTS, for the last line of script/test. */
class CountingReporter extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    runner.once("end", () => {
      const { passes: passed, failures: failed, pending: skipped } = this.stats;
      keepCounts({ passed, failed, skipped });
      // Open handles would keep the run alive for ever; unref'd, this timer is not one of them.
      setTimeout(() => {
        const open = process.getActiveResourcesInfo().join(", ");
        console.error(`The tests ended ${HANG_MS / 1000} s ago and something is still open: ${open}`);
        // Mocha sets the exit code once more from its own count, so the failure has to be in ours.
        keepCounts({ passed, failed: failed + 1, skipped });
        process.exit(1);
      }, HANG_MS).unref();
    });
  }
}

function keepCounts(counts) {
  const file = process.env.HEADWATER_TEST_COUNTS;
  if (file) writeFileSync(file, JSON.stringify(counts));
}

module.exports = CountingReporter;
