import type { Socket } from "node:net";
import { expect } from "chai";
import { Redis } from "ioredis";
import { openTestPlatform, type TestPlatform } from "../../support/platform.ts";

describe("commands to Redis", () => {
  let platform: TestPlatform;
  let redis: Redis;
  before(async () => {
    platform = await openTestPlatform();
    if (platform.redis instanceof Redis) redis = platform.redis;
  });
  after(() => platform.destroy());

  /** Returns how often the socket was written to while `work` was done. */
  async function writesOf(work: () => Promise<unknown>, client = redis): Promise<number> {
    const socket = client.stream as Socket & Record<"_write" | "_writev", (...args: unknown[]) => void>;
    let writes = 0;
    const names = ["_write", "_writev"] as const;
    for (const name of names) {
      const original = socket[name];
      socket[name] = (...args: unknown[]) => {
        writes += 1;
        original.apply(socket, args);
      };
    }
    try {
      await work();
    } finally {
      // What they hid is the prototype's.
      for (const name of names) Reflect.deleteProperty(socket, name);
    }
    return writes;
  }

  it("that are sent in one turn are written together, and replied to in their order", async () => {
    const key = platform.keys.lastEventScore("dc_joined");
    const replies: number[] = [];
    const writes = await writesOf(() =>
      Promise.all(
        Array.from({ length: 50 }, async () => {
          await null;
          replies.push(await redis.incr(key));
        }),
      ),
    );
    expect(replies).to.deep.equal(Array.from({ length: 50 }, (_, i) => i + 1));
    expect(writes).to.equal(1);
  });

  it("are written one by one with ioredis alone: join-writes.ts goes when they are not", async () => {
    const plain = new Redis(platform.config.redisUrl);
    try {
      await plain.ping();
      const pings = () => Promise.all(Array.from({ length: 50 }, () => plain.ping()));
      expect(await writesOf(pings, plain)).to.be.greaterThan(1);
    } finally {
      plain.disconnect();
    }
  });

  it("are written at once if no other one is sent", async () => {
    expect(await writesOf(() => redis.ping())).to.equal(1);
    expect(
      await writesOf(() => redis.multi().incr(platform.keys.lastEventScore("dc_multi")).exec()),
    ).to.equal(1);
  });
});
