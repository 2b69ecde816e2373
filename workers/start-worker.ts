import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ConfigError, EXIT_CONFIG, readConfig } from "../src/config.ts";
import { onShutdown } from "../src/lib/shutdown.ts";
import { serveWorker } from "../src/ops/serve-worker.ts";
import { openPlatform, type Platform } from "../src/platform.ts";
import type { RunningWorker } from "../src/queues/run-worker.ts";

/** Of the 9 s that `onShutdown` gives; the stores close in the rest. */
const WORKER_STOP_MS = 7000;

/** True in the file that the process was started with; a file that only was imported starts nothing. */
export function isEntry(moduleUrl: string): boolean {
  const [, script] = process.argv;
  return script !== undefined && realpathSync(script) === fileURLToPath(moduleUrl);
}

/**
 * The whole life of one queue's process: settings, stores, worker, `ready`, and an ordered stop. A setting that can't
 * be used or a store that does not answer ends it with one clear line and code 1.
 */
export async function startWorker(name: string, start: (platform: Platform) => RunningWorker): Promise<void> {
  let platform: Platform | undefined;
  try {
    const config = readConfig();
    platform = await openPlatform(config, name);
    const worker = start(platform);
    await worker.ready();
    const health = config.workerPort > 0 ? await serveWorker(platform) : undefined;
    stopInOrder(platform, async () => {
      health?.close();
      await worker.close(WORKER_STOP_MS);
    });
    platform.log.info("ready");
    process.send?.("ready");
  } catch (error) {
    process.stderr.write(`${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    await platform?.close();
    process.exit(error instanceof ConfigError ? EXIT_CONFIG : 1);
  }
}

function stopInOrder(platform: Platform, stopWork: () => Promise<void>): void {
  onShutdown(platform.log, async () => {
    // The worker first, so that a job that ends can still record and enqueue.
    await stopWork();
    await platform.close();
  });
}
