import { deleteRange } from "../src/events/delete-range.ts";
import type { Platform } from "../src/platform.ts";
import { deletions } from "../src/queues/deletions.ts";
import { type RunningWorker, runWorker } from "../src/queues/run-worker.ts";
import { isEntry, startWorker } from "./start-worker.ts";
import { workerOptions } from "./worker-options.ts";

/** Removes ranges of stored events (design.md, "Processes and queues"). */
export function startDeletions(platform: Platform): RunningWorker {
  return runWorker(
    deletions,
    async ({ job }) => ({ ...(await deleteRange(platform, job)) }),
    workerOptions(platform, "deletions"),
  );
}

if (isEntry(import.meta.url)) await startWorker(deletions.name, startDeletions);
