import type { Platform } from "../src/platform.ts";
import type { WorkerOptions } from "../src/queues/run-worker.ts";

/** What every worker takes from its platform. */
export function workerOptions(platform: Platform, queue: { name: string }): WorkerOptions {
  const { config, redis, log, metrics } = platform;
  return {
    redis,
    prefix: config.redisPrefix,
    concurrency: config.concurrency[queue.name] ?? 1,
    stalledAfterMs: config.stalledAfterMs,
    log,
    metrics,
  };
}
