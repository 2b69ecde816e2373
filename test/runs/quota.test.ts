import { expect } from "chai";
import { countRuns } from "../../src/accounts/usage.ts";
import { createUser } from "../../src/accounts/users.ts";
import { openQuota } from "../../src/runs/quota.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

describe("what an account may still run", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform({ FREE_DAILY_INVOCATIONS: "10", FREE_DAILY_COMPUTE_MS: "1000" });
  });
  after(() => platform.destroy());

  async function allowanceOf(
    name: string,
    used: { runs: number; ms: number },
    plan: "free" | "paid" = "free",
  ) {
    const { id } = await createUser(platform, { email: `${name}@example.test`, plan });
    await countRuns(platform, id, used.runs, used.ms);
    return await openQuota(platform, id);
  }

  it("is what is left of its runs, with what was given back", async () => {
    const allowance = await allowanceOf("runs", { runs: 4, ms: 0 });
    expect(await allowance.reserve(4, 50)).to.deep.equal({ runs: 4, forMs: 50 });
    expect(await allowance.reserve(4, 50)).to.deep.equal({ runs: 2, forMs: 50 });
    expect((await allowance.reserve(4, 50)).runs).to.equal(0);
    allowance.refund(3);
    expect((await allowance.reserve(4, 50)).runs).to.equal(3);
  });

  it("is no longer than what is left of its computing, and nothing when that is used up", async () => {
    const allowance = await allowanceOf("compute", { runs: 0, ms: 970 });
    expect(await allowance.reserve(2, 50)).to.deep.equal({ runs: 2, forMs: 30 });
    allowance.spend(29.5);
    expect(await allowance.reserve(2, 50)).to.deep.equal({ runs: 2, forMs: 0.5 });
    allowance.spend(1);
    expect((await allowance.reserve(2, 50)).runs).to.equal(0);
  });

  it("has no end on a paid plan", async () => {
    const allowance = await allowanceOf("paid", { runs: 50, ms: 5000 }, "paid");
    expect(await allowance.reserve(200, 50)).to.deep.equal({ runs: 200, forMs: 50 });
  });
});
