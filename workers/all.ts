import "../src/lib/require-node.ts";

import { isEntry } from "../src/lib/is-entry.ts";
import type { Platform } from "../src/platform.ts";
import type { RunningWorker } from "../src/queues/run-worker.ts";
import { start as startDeletions } from "./deletions.ts";
import { start as startDeliveries } from "./deliveries.ts";
import { start as startEmissions } from "./emissions.ts";
import { start as startRuns } from "./runs.ts";
import { startWorker } from "./start-worker.ts";

/** Consumes every queue in one process, for small installations (Procfile.small). */
export function start(platform: Platform): RunningWorker {
  const workers = [startRuns, startEmissions, startDeliveries, startDeletions].map(one => one(platform));
  return {
    async ready() {
      await Promise.all(workers.map(worker => worker.ready()));
    },
    async close(deadlineMs) {
      await Promise.all(workers.map(worker => worker.close(deadlineMs)));
    },
  };
}

if (isEntry(import.meta.url)) await startWorker("all", start);
