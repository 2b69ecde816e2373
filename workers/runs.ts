import type { Platform } from "../src/platform.ts";
import { type RunningWorker, runWorker } from "../src/queues/run-worker.ts";
import { runs } from "../src/queues/runs.ts";
import { keepReconciled } from "../src/reconcile/reconcile.ts";
import { workLine } from "../src/runs/handle-job.ts";
import { isEntry, startWorker } from "./start-worker.ts";
import { workerOptions } from "./worker-options.ts";

/** Runs components in the sandbox; one of these processes also keeps stores and queues in agreement. */
export function startRuns(platform: Platform): RunningWorker {
  const worker = runWorker(runs, work => workLine(platform, work), workerOptions(platform, "runs"));
  const stopReconciling = keepReconciled(platform);
  return {
    ready: worker.ready,
    async close(deadlineMs) {
      await Promise.all([stopReconciling(), worker.close(deadlineMs)]);
    },
  };
}

if (isEntry(import.meta.url)) await startWorker(runs.name, startRuns);
