import { randomBytes } from "node:crypto";
import { Redis } from "ioredis";

export interface TestRedis {
  redis: Redis;
  prefix: string;
  /** Deletes the keys with the prefix and closes the connection. */
  close(): Promise<void>;
}

/** Opens a client that fails fast, like that of the web process, with a unique prefix for keys. */
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

/** Returns a client of a Redis server that does not exist. */
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
