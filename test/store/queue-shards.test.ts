import { expect } from "chai";
import { growQueueShards } from "../../src/store/queue-shards.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { until } from "../support/until.ts";

describe("the stored numbers of shards", () => {
  let platform: TestPlatform;
  beforeEach(async () => {
    platform = await openTestPlatform();
  });
  afterEach(() => platform.destroy());

  const grow = async (wanted: Record<string, number>, graceMs = 60_000) => {
    const found = await growQueueShards(platform, new Map(Object.entries(wanted)), graceMs);
    return Object.fromEntries([...found].map(([name, count]) => [name, [count.producing, count.consuming]]));
  };

  it("are 1 until a process wants more, each queue by itself", async () => {
    expect(await grow({ runs: 1, deliveries: 1 })).to.deep.equal({ runs: [1, 1], deliveries: [1, 1] });
    expect(await grow({ runs: 1, deliveries: 4 })).to.deep.equal({ runs: [1, 1], deliveries: [1, 4] });
  });

  it("never fall", async () => {
    await grow({ deliveries: 4 }, 0);
    expect(await grow({ deliveries: 2 })).to.deep.equal({ deliveries: [4, 4] });
  });

  it("are for consumers at once, and for producers when the time has passed", async () => {
    expect(await grow({ deliveries: 4 }, 200)).to.deep.equal({ deliveries: [1, 4] });
    await until(async () => (await grow({ deliveries: 1 })).deliveries?.[0] === 4);
  });

  it("keep what producers used before while they grow twice", async () => {
    await grow({ deliveries: 2 }, 0);
    expect(await grow({ deliveries: 4 })).to.deep.equal({ deliveries: [2, 4] });
    expect(await grow({ deliveries: 8 })).to.deep.equal({ deliveries: [2, 8] });
  });
});
