import "../src/lib/require-node.ts";

import { deleteRange } from "../src/events/stored-events.ts";
import { isEntry } from "../src/lib/is-entry.ts";
import type { Platform } from "../src/platform.ts";
import { deletions } from "../src/queues/deletions.ts";
import { type RunningWorker, runWorker } from "../src/queues/run-worker.ts";
import { startWorker, workerOptions } from "./start-worker.ts";

/** Deletes ranges of stored events (docs/design.md#processes-and-queues). */
export function start(platform: Platform): RunningWorker {
  return runWorker(
    deletions,
    { deletions: ({ job }) => deleteRange(platform, job) },
    workerOptions(platform, deletions),
  );
}

if (isEntry(import.meta.url)) await startWorker(deletions.name, start);
