import type { Platform } from "../src/platform.ts";
import type { WorkerOptions } from "../src/queues/run-worker.ts";

/** What every worker takes from its platform. */
export function workerOptions(platform: Platform, queue: { name: string }): WorkerOptions {
  const { config, redis, log, metrics, shards } = platform;
  const only = config.workerShards;
  if (only && !only.some(shard => shard < shards.numberOf(queue))) {
    log.warn({ queue: queue.name, shards: shards.numberOf(queue) }, "none of WORKER_SHARDS exists: no jobs");
  }
  return {
    redis,
    prefix: config.redisPrefix,
    shards: {
      count: () => shards.numberOf(queue),
      onGrown: listener => shards.onGrown(listener),
      only,
    },
    concurrency: config.concurrency[queue.name] ?? 1,
    stalledAfterMs: config.stalledAfterMs,
    log,
    metrics,
  };
}
