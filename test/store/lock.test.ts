import { expect } from "chai";
import { acquireLock, holdLock } from "../../src/store/lock.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { until } from "../support/until.ts";

const TTL_MS = 300;

describe("a lock that is held", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform();
  });
  after(() => platform.destroy());

  it("is renewed for as long as it is held, and free once it is released", async () => {
    const lock = await holdLock(platform.redis, "lock-1", "a", TTL_MS);
    let renewals = 0;
    let last = await platform.redis.pttl("lock-1");
    await until(async () => {
      const left = await platform.redis.pttl("lock-1");
      if (left > last) renewals += 1;
      last = left;
      return renewals === 6;
    });
    expect(await holdLock(platform.redis, "lock-1", "b", TTL_MS)).to.equal(null);
    expect(lock?.lost.aborted).to.equal(false);
    await lock?.release();
    expect(await acquireLock(platform.redis, "lock-1", "b", TTL_MS)).to.equal(true);
  });

  it("is lost, and its signal is aborted, when another process has it", async () => {
    const lock = await holdLock(platform.redis, "lock-2", "a", TTL_MS);
    await platform.redis.set("lock-2", "b");
    await until(() => lock?.lost.aborted, { what: "lost" });
    await lock?.release();
    expect(await platform.redis.get("lock-2"), "the other's lock is left alone").to.equal("b");
    await platform.redis.del("lock-2");
  });

  it("is lost when Redis has not renewed it in time", async () => {
    const isAway = { value: false };
    const away = new Proxy(platform.redis, {
      get: (redis, name) => {
        if (isAway.value && name === "evalsha") return () => new Promise(() => undefined);
        const value = Reflect.get(redis, name);
        return typeof value === "function" ? value.bind(redis) : value;
      },
    });
    const lock = await holdLock(away, "lock-3", "a", TTL_MS);
    isAway.value = true;
    await until(() => lock?.lost.aborted, { what: "lost" });
    expect(lock?.lost.aborted).to.equal(true);
  });
});
