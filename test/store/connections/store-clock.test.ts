import { expect } from "chai";
import { StoreClock } from "../../../src/store/connections/store-clock.ts";
import { openTestPlatform, type TestPlatform } from "../../support/platform.ts";
import { until } from "../../support/until.ts";

const DAY = 86_400_000;

describe("the clock of an installation", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform();
  });
  after(() => platform.destroy());

  const redisMs = async () => Number((await platform.redis.time())[0]) * 1000;
  /** Far more than a busy machine takes between two readings, and far less than any clock here is off. */
  const expectNow = async (clock: StoreClock) =>
    expect(clock.now()).to.be.closeTo(await redisMs(), 60_000, "its time");

  for (const [off, ms] of Object.entries({ "an hour ahead": 3_600_000, "a day behind": -DAY })) {
    it(`is that of Redis on a machine that is ${off}`, async () => {
      const clock = await StoreClock.open(platform.redis, () => Date.now() + ms);
      await expectNow(clock);
      expect(clock.machineAheadMs).to.be.closeTo(ms, 60_000);
      clock.close();
    });
  }

  it("is exactly the machine's where that agrees with Redis", async () => {
    let machineMs = await redisMs();
    const agreeing = await StoreClock.open(
      { time: async () => [String(machineMs / 1000), "0"] as never },
      () => machineMs,
    );
    expect(agreeing.now()).to.equal(machineMs);
    machineMs += 0.2;
    expect(agreeing.now()).to.equal(machineMs);
    agreeing.close();
  });

  it("goes on as before when the machine's clock is set, and while Redis is away", async () => {
    let setBy = 0;
    let isAway = false;
    const redis = {
      time: async () => {
        if (isAway) throw new Error("away");
        return await platform.redis.time();
      },
    } as Pick<TestPlatform["redis"], "time">;
    const clock = await StoreClock.open(redis, () => Date.now() + setBy);
    isAway = true;
    for (setBy of [DAY, -DAY, 3_600_000]) await expectNow(clock);
    await clock.sync();
    await expectNow(clock);
    clock.close();
  });

  it("follows Redis if that moves", async () => {
    let offMs = 0;
    const time = async () => [String(Math.floor((Date.now() + offMs) / 1000)), "0"];
    const clock = await StoreClock.open({ time } as never);
    offMs = DAY;
    await clock.sync();
    await until(() => clock.now() - Date.now() > DAY - 60_000);
    clock.close();
  });
});
