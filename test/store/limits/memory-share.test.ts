import { expect } from "chai";
import { LIMITS } from "../../../src/limits/catalogue.ts";
import { readMemoryShare } from "../../../src/store/connections/probe-redis.ts";
import { type MemoryShare, openMemoryShare } from "../../../src/store/limits/waiting-bytes.ts";
import { openTestPlatform, type TestPlatform } from "../../support/platform.ts";
import { until } from "../../support/until.ts";

describe("what accounts may have waiting in Redis", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform();
  });
  after(() => platform.destroy());

  it("shrinks above the high-water mark, and not below it", async () => {
    const share = await readMemoryShare(platform.redis);
    const mark = LIMITS.redisHighWaterPercent.value / 100;
    const [below, above] = [mark, share / 2].map(one => openMemoryShare(platform.redis, one)) as [
      MemoryShare,
      MemoryShare,
    ];
    await until(() => above.allowed() < 1, { what: "the reading" });
    expect(below.allowed()).to.equal(1);
  });
});
