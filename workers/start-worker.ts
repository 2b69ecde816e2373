import { readConfig } from "../src/config.ts";
import { collectWhenIdle } from "../src/lib/collect-when-idle.ts";
import { exitCodeOf } from "../src/lib/errors.ts";
import { createLogger, logConsole, printLastLine } from "../src/lib/logger.ts";
import { onShutdown } from "../src/lib/shutdown.ts";
import { serveWorker } from "../src/ops/serve-worker.ts";
import { openPlatform, type Platform } from "../src/platform.ts";
import type { RunningWorker, WorkerOptions } from "../src/queues/run-worker.ts";
import { adoptClock } from "../src/store/connections/store-clock.ts";

/** Part of the 9 s that `onShutdown` allows; the stores close in the rest. */
const WORKER_STOP_MS = 7000;

/**
 * Runs one queue's process from start to stop: settings, stores, worker, `ready`, and an ordered stop. If a setting is
 * invalid or a store does not respond, it prints one line and exits, with `EXIT_CONFIG` for a setting, or a store that is not what it says, and 1 otherwise.
 */
export async function startWorker(name: string, start: (platform: Platform) => RunningWorker): Promise<void> {
  let platform: Platform | undefined;
  try {
    const config = readConfig();
    const log = createLogger(name, config.logLevel);
    logConsole(log);
    platform = await openPlatform(config, name, { log });
    adoptClock(platform.clock);
    const worker = start(platform);
    await worker.ready();
    const health = config.workerPort > 0 ? await serveWorker(platform) : undefined;
    stopInOrder(platform, async () => {
      health?.close();
      await worker.close(WORKER_STOP_MS);
    });
    collectWhenIdle();
    platform.log.info("ready");
    process.send?.("ready");
  } catch (error) {
    printLastLine(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    await platform?.close();
    process.exit(exitCodeOf(error));
  }
}

function stopInOrder(platform: Platform, stopWork: () => Promise<void>): void {
  onShutdown(platform.log, async () => {
    // The worker first, so that jobs that are ending can still record and enqueue.
    await stopWork();
    await platform.close();
  });
}

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
