import { SetupError } from "../../lib/setup-error.ts";
import { findRedis } from "../../store/find-redis.ts";
import { infoOfMasters } from "../../store/masters.ts";
import { readMemoryShare } from "../../store/probe-redis.ts";
import { openProducerRedis, type RedisClient, whenReady } from "../../store/redis.ts";
import type { RedisSettings, RedisTarget } from "../../store/redis-settings.ts";
import { checkClockSkew } from "./clock-skew.ts";
import { type Finding, problem } from "./finding.ts";
import { judgeRedis } from "./judge-redis.ts";

const TIMEOUT_MS = 5000;
const ADVICE = "start it, or correct REDIS_URL";

/** Checks Redis: reached, version, eviction, append-only file, memory, clock. */
export async function checkRedis(settings: RedisSettings): Promise<Finding[]> {
  let target: RedisTarget;
  try {
    target = await findRedis(settings, TIMEOUT_MS);
  } catch (error) {
    const advice = error instanceof SetupError ? "correct the setting, or that Redis" : ADVICE;
    return [problem("Redis", (error as Error).message, advice)];
  }
  const redis = openProducerRedis(target);
  redis.on("error", () => undefined);
  try {
    await whenReady(redis, TIMEOUT_MS);
    return await checkServer(redis);
  } catch (error) {
    return [problem("Redis", (error as Error).message, ADVICE)];
  } finally {
    redis.disconnect();
  }
}

async function checkServer(redis: RedisClient): Promise<Finding[]> {
  const infos = await infoOfMasters(redis);
  const clock = await checkClockSkew("Redis", async () => {
    const [seconds, microseconds] = await redis.time();
    return Number(seconds) * 1000 + Number(microseconds) / 1000;
  });
  return [...judgeRedis(infos, await readMemoryShare(redis)), clock];
}
