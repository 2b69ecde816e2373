import "../src/lib/require-node.ts";

import { countLostEmissions, openEmissionsHandler } from "../src/events/handle-job.ts";
import { isEntry } from "../src/lib/is-entry.ts";
import type { Platform } from "../src/platform.ts";
import { emissions } from "../src/queues/emissions.ts";
import { type RunningWorker, runWorker } from "../src/queues/run-worker.ts";
import { startWorker, workerOptions } from "./start-worker.ts";

/** Gives emissions their event ids, stores their summaries and fans them out (docs/design.md#processes-and-queues). */
export function start(platform: Platform): RunningWorker {
  const handlers = { emissions: openEmissionsHandler(platform) };
  return runWorker(emissions, handlers, {
    ...workerOptions(platform, emissions),
    onGivenUp: payload => countLostEmissions(platform, payload),
  });
}

if (isEntry(import.meta.url)) await startWorker(emissions.name, start);
