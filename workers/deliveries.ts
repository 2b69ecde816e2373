import { processDelivery, type RetryOptions } from "../src/deliveries/process.ts";
import type { Platform } from "../src/platform.ts";
import { deliveries } from "../src/queues/deliveries.ts";
import { type RunningWorker, runWorker } from "../src/queues/run-worker.ts";
import { isEntry, startWorker } from "./start-worker.ts";
import { workerOptions } from "./worker-options.ts";

/** Signs and POSTs events to webhooks, with retries (design.md, "Delivery to a webhook"). */
export function startDeliveries(platform: Platform, options: RetryOptions = {}): RunningWorker {
  const work = workerOptions(platform, "deliveries");
  return runWorker(deliveries, given => processDelivery(platform, given, options), work);
}

if (isEntry(import.meta.url)) await startWorker(deliveries.name, startDeliveries);
