import { expect } from "chai";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { openMemoryShare } from "../../src/store/memory-share.ts";
import { readMemoryShare } from "../../src/store/probe-redis.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { until } from "../support/until.ts";

describe("what accounts may have waiting in Redis", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform();
  });
  after(() => platform.destroy());

  it("shrinks above the high-water mark, and not below it", async () => {
    const share = await readMemoryShare(platform.redis);
    const [below, above] = [openMemoryShare(platform.redis, 0.9), openMemoryShare(platform.redis, share / 2)];
    await until(() => above.allowed() < 1, { what: "the reading" });
    expect(below.allowed()).to.equal(1);
  });

  it("has the mark of docs/limits.md by default", () => {
    expect(platform.config.redisHighWater).to.equal(LIMITS.redisHighWaterPercent.value / 100);
  });
});
