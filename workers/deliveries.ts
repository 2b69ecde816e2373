import type { RetryOptions } from "../src/deliveries/attempt/attempt.ts";
import { openDeliveries } from "../src/deliveries/worker/handle-job.ts";
import type { Platform } from "../src/platform.ts";
import { deliveries } from "../src/queues/deliveries.ts";
import { type RunningWorker, runWorker } from "../src/queues/run-worker.ts";
import { isEntry, startWorker } from "./start-worker.ts";
import { workerOptions } from "./worker-options.ts";

/** Signs and POSTs events to webhooks, with retries (design.md, "Delivery to a webhook"). */
export function startDeliveries(platform: Platform, options: RetryOptions = {}): RunningWorker {
  const { work, close } = openDeliveries(platform, options);
  const worker = runWorker(deliveries, work, workerOptions(platform, "deliveries"));
  return {
    ready: worker.ready,
    async close(deadlineMs) {
      const endsAt = performance.now() + deadlineMs;
      await worker.close(deadlineMs);
      await close(Math.max(0, endsAt - performance.now()));
    },
  };
}

if (isEntry(import.meta.url)) await startWorker(deliveries.name, startDeliveries);
