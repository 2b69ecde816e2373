import { expect } from "chai";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { deliveries } from "../../src/queues/deliveries.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { buildWith, needKubectl } from "./kustomize.ts";

describe("the Redis keys by which KEDA scales", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform();
  });
  after(() => platform.destroy());

  it("hold the jobs that wait", async function () {
    needKubectl(this);
    const scaled = buildWith("scale-by-list").filter(({ kind }) => kind === "ScaledObject");
    expect(scaled).to.have.length(3);
    for (const { spec } of scaled) {
      const name = spec.scaleTargetRef.name.replace("headwater-", "");
      const queue = openedQueue(platform.queues, { name });
      await queue.addBulk([1, 2, 3].map(n => ({ name: "waits", data: { n } })));
      // The manifest has the default of REDIS_PREFIX, a test a prefix of its own.
      const key = spec.triggers[0].metadata.listName.replace(
        "{headwater:",
        `{${platform.config.redisPrefix}:`,
      );
      expect(await platform.redis.llen(key), key).to.equal(3);
    }
  });

  it("would hold none under another name, which Redis does not report", async () => {
    const { redisPrefix } = platform.config;
    expect(await platform.redis.llen(`${redisPrefix}:${deliveries.name}:wait`)).to.equal(0);
  });
});
