import { randomBytes } from "node:crypto";
import { openProducerRedis, whenReady } from "../../src/store/connections/redis.ts";
import { singleServer } from "../../src/store/connections/redis-url.ts";
import { redisKeys } from "../../src/store/keys.ts";
import { growQueueShards } from "../../src/store/queue-shards.ts";

/** Returns the settings of a new installation whose queues have so many shards from the first job on. */
export async function shardedEnv(numbers: Record<string, number>): Promise<Record<string, string>> {
  const REDIS_PREFIX = `t${randomBytes(6).toString("hex")}`;
  const redis = openProducerRedis(singleServer(process.env.TEST_REDIS_URL ?? ""));
  await whenReady(redis, 5000);
  await growQueueShards({ redis, keys: redisKeys(REDIS_PREFIX) }, new Map(Object.entries(numbers)), 0);
  redis.disconnect();
  return { REDIS_PREFIX };
}
