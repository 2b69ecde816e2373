import type { Platform } from "../src/platform.ts";
import { type RunningWorker, runWorker } from "../src/queues/run-worker.ts";
import { runs } from "../src/queues/runs.ts";
import { startReconciling } from "../src/reconcile/reconcile.ts";
import { executeQueuedRuns, handleTick } from "../src/runs/handle-job.ts";
import { pauseWithoutSandboxes } from "../src/runs/sandbox-gate.ts";
import { isEntry, startWorker } from "./start-worker.ts";
import { workerOptions } from "./worker-options.ts";

/** Runs components in the sandbox; one of these processes also keeps stores and queues in agreement. */
export function start(platform: Platform): RunningWorker {
  const worker = runWorker(
    runs,
    {
      notify: context => executeQueuedRuns(platform, context),
      tick: context => handleTick(platform, context),
    },
    workerOptions(platform, runs),
  );
  const stopWatching = pauseWithoutSandboxes(platform, worker);
  const stopReconciling = startReconciling(platform);
  return {
    ready: () => worker.ready(),
    async close(deadlineMs) {
      stopWatching();
      await Promise.all([stopReconciling(), worker.close(deadlineMs)]);
    },
  };
}

if (isEntry(import.meta.url)) await startWorker(runs.name, start);
