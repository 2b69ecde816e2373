import { expect } from "chai";
import type { AppError } from "../../src/lib/errors.ts";
import { newId } from "../../src/lib/ids.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { enqueueRun } from "../../src/queues/runs.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

describe("the changes of a source that wait", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform();
  });
  after(() => platform.destroy());

  it("are bounded, but for its deletion", async () => {
    const source = newId("dc");
    const change = (op: "update" | "delete") =>
      enqueueRun(platform, source, { kind: "change", op, run_id: newId("run"), at_ms: 0 }).then(
        () => "accepted",
        (error: unknown) => (error as AppError).code,
      );
    for (let n = 0; n < LIMITS.queuedChanges.value; n += 1)
      expect(await change("update")).to.equal("accepted");
    expect(await change("update")).to.equal("rate-limited");
    expect(await change("delete")).to.equal("accepted");
  });
});
