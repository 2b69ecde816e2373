import type { Config } from "../src/config.ts";
import type { Platform } from "../src/platform.ts";
import type { WorkerOptions } from "../src/queues/run-worker.ts";

/** What every worker takes from its platform. */
export function workerOptions(platform: Platform, queue: keyof Config["concurrency"]): WorkerOptions {
  const { config, redis, log, counters } = platform;
  return {
    redis,
    prefix: config.redisPrefix,
    concurrency: config.concurrency[queue],
    stalledAfterMs: config.stalledAfterMs,
    log,
    count: counters.add,
  };
}
