import "../src/lib/require-node.ts";

import { startMailing } from "../src/alerts/send/send-mails.ts";
import { isEntry } from "../src/lib/is-entry.ts";
import { settlesWithin } from "../src/lib/time.ts";
import type { Platform } from "../src/platform.ts";
import { type RunningWorker, runWorker } from "../src/queues/run-worker.ts";
import { runs } from "../src/queues/runs.ts";
import { startReconciling } from "../src/reconcile/reconcile.ts";
import { executeQueuedRuns, handleTick } from "../src/runs/handle-job.ts";
import { LateRecords } from "../src/runs/late-records.ts";
import { pauseWithoutSandboxes } from "../src/runs/sandbox-gate.ts";
import { startWorker, workerOptions } from "./start-worker.ts";

/** How long the last records may take when a process stops; what is left then, the reconciler stores. Milliseconds. */
const STOP_MS = 1000;

/** Runs components in the sandbox; these processes share what keeps stores and queues in agreement, too, and each sends mails. */
export function start(platform: Platform): RunningWorker {
  const late = new LateRecords(platform);
  const deps = { ...platform, late };
  const worker = runWorker(
    runs,
    {
      notify: context => executeQueuedRuns(deps, context),
      tick: context => handleTick(deps, context),
    },
    workerOptions(platform, runs),
  );
  const stopWatching = pauseWithoutSandboxes(platform, worker);
  const stopReconciling = startReconciling(platform);
  const stopMailing = startMailing(platform);
  return {
    ready: () => worker.ready(),
    async close(deadlineMs) {
      stopWatching();
      await Promise.all([stopReconciling(), stopMailing(), worker.close(deadlineMs)]);
      await settlesWithin(late.close(), STOP_MS);
    },
  };
}

if (isEntry(import.meta.url)) await startWorker(runs.name, start);
