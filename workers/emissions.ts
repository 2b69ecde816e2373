import { openEmissions } from "../src/events/handle-job.ts";
import type { Platform } from "../src/platform.ts";
import { emissions } from "../src/queues/emissions.ts";
import { type RunningWorker, runWorker } from "../src/queues/run-worker.ts";
import { isEntry, startWorker } from "./start-worker.ts";
import { workerOptions } from "./worker-options.ts";

/** Gives emissions their event ids, stores their summaries and fans them out (design.md, "Processes and queues"). */
export function startEmissions(platform: Platform): RunningWorker {
  return runWorker(emissions, openEmissions(platform), workerOptions(platform, "emissions"));
}

if (isEntry(import.meta.url)) await startWorker(emissions.name, startEmissions);
