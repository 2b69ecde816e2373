import { expect } from "chai";
import { claimUnits } from "../../../src/store/sweeps/sweep-turns.ts";
import { openTestPlatform, type TestPlatform } from "../../support/platform.ts";
import { until } from "../../support/until.ts";

const TTL_MS = 600;
const LONG_MS = 3_600_000;

describe("units of the reconciler's work", () => {
  let platform: TestPlatform;
  beforeEach(async () => {
    platform = await openTestPlatform();
  });
  afterEach(() => platform.destroy());

  const claim = (processId: string, units: string[], most = 10, dueInMs = () => LONG_MS) =>
    claimUnits({ ...platform, processId }, units, { most, ttlMs: TTL_MS, everyMs: LONG_MS, dueInMs });
  const names = async (claimed: ReturnType<typeof claim>) => [...(await claimed).locks.keys()];
  const entry = async (unit: string) =>
    ((await platform.redis.hget(platform.keys.sweepUnits(), unit)) ?? "").split(" ");
  const release = async (claimed: ReturnType<typeof claim>) => {
    for (const lock of (await claimed).locks.values()) await lock.release();
  };

  it("are claimed by one process at a time, so many at once, and the others are counted", async () => {
    const one = await claim("one", ["a", "b", "c"], 2);
    expect([[...one.locks.keys()], one.more]).to.deep.equal([["a", "b"], 1]);
    const other = await claim("other", ["a", "b", "c"]);
    expect([[...other.locks.keys()], other.more]).to.deep.equal([["c"], 0]);
    expect((await claim("third", ["a", "b", "c"])).locks.size).to.equal(0);
    for (const lock of [...one.locks.values(), ...other.locks.values()]) await lock.release();
  });

  it("are due again when their claim ends, as much later as it says", async () => {
    await release(claim("one", ["later"]));
    await release(claim("one", ["now"], 1, () => -5));
    expect(await names(claim("other", ["later", "now"]))).to.deep.equal(["now"]);
  });

  it("come in the order in which they became due", async () => {
    await platform.redis.hset(platform.keys.sweepUnits(), { late: "2000 ", later: "3000 ", latest: "4000 " });
    expect(await names(claim("one", ["latest", "later", "late"], 2))).to.deep.equal(["late", "later"]);
  });

  it("are held for as long as the process lives, and free after a while if it does not", async () => {
    const { locks } = await claim("one", ["held"]);
    const [first = ""] = await entry("held");
    await until(async () => Number((await entry("held"))[0]) > Number(first) + TTL_MS, { what: "renewals" });
    expect(locks.get("held")?.lost.aborted).to.equal(false);
    expect(await names(claim("other", ["held"]))).to.deep.equal([]);
    // As a process that was killed leaves it.
    await platform.redis.hset(platform.keys.sweepUnits(), "held", "1 killed");
    expect(await names(claim("other", ["held"]))).to.deep.equal(["held"]);
    await until(() => locks.get("held")?.lost.aborted, { what: "lost" });
    await locks.get("held")?.release();
    expect((await entry("held"))[1], "the other's claim is left alone").to.equal("other");
  });

  it("are claimed again by a process that did not hear of its claim", async () => {
    await platform.redis.hset(platform.keys.sweepUnits(), "a", `${Date.now() + 60_000} one`);
    expect(await names(claim("other", ["a"]))).to.deep.equal([]);
    expect(await names(claim("one", ["a"]))).to.deep.equal(["a"]);
  });

  it("are not waited for once the clock of Redis has gone back", async () => {
    await platform.redis.hset(platform.keys.sweepUnits(), "a", `${Date.now() + 2 * LONG_MS} another`);
    expect(await names(claim("one", ["a"]))).to.deep.equal(["a"]);
  });

  it("stay with their process if Redis loses its data, unless another one is faster", async () => {
    const { locks } = await claim("one", ["kept", "lost"]);
    await platform.redis.del(platform.keys.sweepUnits());
    expect(await names(claim("other", ["lost"]))).to.deep.equal(["lost"]);
    await until(() => locks.get("lost")?.lost.aborted, { what: "lost" });
    await until(async () => (await entry("kept"))[1] === "one", { what: "renewed" });
    expect(locks.get("kept")?.lost.aborted).to.equal(false);
  });
});
