import { expect } from "chai";
import { LIMITS } from "../../../src/limits/catalogue.ts";
import { hasArrived, noteArrived } from "../../../src/store/limits/arrived-ids.ts";
import { openTestPlatform, type TestPlatform } from "../../support/platform.ts";

describe("the ids of requests that have arrived", () => {
  let platform: TestPlatform;
  let nowMs = Date.now();
  before(async () => {
    platform = await openTestPlatform({}, { process: "web" });
    Object.defineProperty(platform, "clock", { value: () => nowMs });
  });
  after(() => platform.destroy());

  it("are known for a day, each of its source", async () => {
    expect(await hasArrived(platform, "dc_1", "a")).to.equal(false);
    await noteArrived(platform, "dc_1", "a");
    expect(await hasArrived(platform, "dc_1", "a")).to.equal(true);
    expect(await hasArrived(platform, "dc_2", "a")).to.equal(false);
    expect(await platform.redis.pttl(platform.keys.arrivedIds("dc_1"))).to.be.within(1, 86_400_000);
    nowMs += 86_400_000;
    expect(await hasArrived(platform, "dc_1", "a")).to.equal(false);
  });

  it("are those of the newest only, however many there are", async () => {
    const most = LIMITS.arrivedIds.value;
    const key = platform.keys.arrivedIds("dc_3");
    const old = Array.from({ length: most }, (_, n) => [n, `old-${n}`]).flat();
    await platform.redis.zadd(key, ...old);
    await noteArrived(platform, "dc_3", "x".repeat(10_000));
    expect(await platform.redis.zcard(key)).to.equal(most);
    expect(await hasArrived(platform, "dc_3", "x".repeat(10_000))).to.equal(true);
    expect(await platform.redis.zscore(key, "old-0")).to.equal(null);
  });
});
