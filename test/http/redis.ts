import { randomBytes } from "node:crypto";
import { Redis } from "ioredis";

export interface TestRedis {
  redis: Redis;
  prefix: string;
  /** Drops the prefix's keys and closes. */
  close(): Promise<void>;
}

/** A client as the web process has it, which fails fast; keys go under a prefix of its own. */
export async function openTestRedis(): Promise<TestRedis> {
  const url = process.env.TEST_REDIS_URL;
  if (!url) throw new Error("TEST_REDIS_URL is not set: run the tests with npm test");
  const redis = new Redis(url, { enableOfflineQueue: false, maxRetriesPerRequest: 0, lazyConnect: true });
  await redis.connect();
  const prefix = `t${randomBytes(6).toString("hex")}`;
  return {
    redis,
    prefix,
    async close() {
      const keys = await redis.keys(`${prefix}*`);
      if (keys.length > 0) await redis.del(...keys);
      await redis.quit();
    },
  };
}

/** A client of a Redis that is not there. */
export function absentRedis(): Redis {
  const redis = new Redis({
    host: "127.0.0.1",
    port: 1,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  redis.on("error", () => {});
  return redis;
}
