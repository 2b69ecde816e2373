import { expect } from "chai";
import { countRuns } from "../../src/accounts/usage.ts";
import { createUser } from "../../src/accounts/users.ts";
import { openQuota } from "../../src/runs/batch.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

describe("the quota of an account", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform({ FREE_LIMITS: "daily_invocations=10,daily_compute_ms=1000" });
  });
  after(() => platform.destroy());

  async function quotaOf(name: string, used: { runs: number; ms: number }, plan: "free" | "paid" = "free") {
    const { id } = await createUser(platform, { email: `${name}@example.test`, plan });
    await countRuns(platform, id, used.runs, used.ms);
    return await openQuota(platform, id);
  }

  it("allows the runs that are left, including refunded ones", async () => {
    const quota = await quotaOf("runs", { runs: 4, ms: 0 });
    expect(await quota.reserve(4, 50)).to.deep.equal({ runs: 4, forMs: 50 });
    expect(await quota.reserve(4, 50)).to.deep.equal({ runs: 2, forMs: 50 });
    expect((await quota.reserve(4, 50)).runs).to.equal(0);
    quota.refund(3);
    expect((await quota.reserve(4, 50)).runs).to.equal(3);
  });

  it("allows no more compute time than is left, and no runs once it is used up", async () => {
    const quota = await quotaOf("compute", { runs: 0, ms: 970 });
    expect(await quota.reserve(2, 50)).to.deep.equal({ runs: 2, forMs: 30 });
    quota.spend(29.5);
    expect(await quota.reserve(2, 50)).to.deep.equal({ runs: 2, forMs: 0.5 });
    quota.spend(1);
    expect((await quota.reserve(2, 50)).runs).to.equal(0);
  });

  it("is unlimited on a paid plan", async () => {
    const quota = await quotaOf("paid", { runs: 50, ms: 5000 }, "paid");
    expect(await quota.reserve(200, 50)).to.deep.equal({ runs: 200, forMs: 50 });
  });
});
