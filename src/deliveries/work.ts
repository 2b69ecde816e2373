import { gather } from "../gather.ts";
import type { Platform } from "../platform.ts";
import { type DeliveriesJob, isFirstAttempts } from "../queues/deliveries.ts";
import type { Work } from "../queues/run-worker.ts";
import type { RetryOptions } from "./attempt.ts";
import { attemptFirst } from "./attempt-first.ts";
import { openLanes } from "./lanes.ts";
import { type DeliveryPlatform, processDelivery } from "./process.ts";
import { type Made, recordFirst } from "./record.ts";
import { openSettle } from "./settle.ts";

/** Attempts recorded in one write. */
const RECORDED_AT_ONCE = 200;

/** What the deliveries worker of a process does, with what its jobs share: lanes, batched records, slow attempts. */
export function openDeliveries(
  platform: DeliveryPlatform & Pick<Platform, "processId" | "log">,
  options: RetryOptions,
) {
  const slow = new Map<Promise<unknown>, (reason: unknown) => void>();
  const record = gather(
    async (made: Made[]) => {
      await recordFirst(platform, made);
      return made.map(() => undefined);
    },
    { most: RECORDED_AT_ONCE, atOnce: 2 },
  );
  const shared = {
    ...options,
    lanes: openLanes(platform, platform.processId),
    settle: openSettle(platform),
    record,
    goOn(work: Promise<unknown>, stop: (reason: unknown) => void) {
      slow.set(work, stop);
      void work.finally(() => slow.delete(work));
    },
  };
  return {
    work: ({ job, begun, signal }: Work<DeliveriesJob>) =>
      isFirstAttempts(job)
        ? attemptFirst(platform, { job, begun, signal }, shared)
        : processDelivery(platform, { job, signal }, options),

    /** Lets attempts that left their jobs end, and stops them after `deadlineMs`: they are pending then. */
    async close(deadlineMs: number): Promise<void> {
      const timer = setTimeout(() => {
        for (const stop of slow.values()) stop(new Error("the worker stops"));
      }, deadlineMs);
      await Promise.allSettled([...slow.keys()]);
      clearTimeout(timer);
    },
  };
}
