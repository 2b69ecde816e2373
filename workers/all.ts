import type { Platform } from "../src/platform.ts";
import type { RunningWorker } from "../src/queues/run-worker.ts";
import { startDeletions } from "./deletions.ts";
import { startDeliveries } from "./deliveries.ts";
import { startEmissions } from "./emissions.ts";
import { startRuns } from "./runs.ts";
import { isEntry, startWorker } from "./start-worker.ts";

/** Every queue's worker in one process, for small installations. */
export function startAll(platform: Platform): RunningWorker {
  const workers = [startRuns, startEmissions, startDeliveries, startDeletions].map(start => start(platform));
  return {
    async ready() {
      await Promise.all(workers.map(worker => worker.ready()));
    },
    async close(deadlineMs) {
      await Promise.all(workers.map(worker => worker.close(deadlineMs)));
    },
  };
}

if (isEntry(import.meta.url)) await startWorker("all", startAll);
