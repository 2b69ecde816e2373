import "../src/lib/require-node.ts";

import type { RetryOptions } from "../src/deliveries/attempt/attempt.ts";
import { openDeliveriesHandler } from "../src/deliveries/worker/handle-job.ts";
import { isEntry } from "../src/lib/is-entry.ts";
import type { Platform } from "../src/platform.ts";
import { deliveries } from "../src/queues/deliveries.ts";
import { type RunningWorker, runWorker } from "../src/queues/run-worker.ts";
import { startWorker, workerOptions } from "./start-worker.ts";

/** Signs events and POSTs them to webhooks, with retries (docs/design.md#delivery-to-a-webhook). */
export function start(platform: Platform, options: RetryOptions = {}): RunningWorker {
  const { handlers, close } = openDeliveriesHandler(platform, options);
  const worker = runWorker(deliveries, handlers, workerOptions(platform, deliveries));
  return {
    ready: () => worker.ready(),
    async close(deadlineMs) {
      const endsAt = performance.now() + deadlineMs;
      await worker.close(deadlineMs);
      await close(Math.max(0, endsAt - performance.now()));
    },
  };
}

if (isEntry(import.meta.url)) await startWorker(deliveries.name, start);
