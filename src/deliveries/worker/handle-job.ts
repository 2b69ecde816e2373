import { gather, IN_COMPANY } from "../../lib/batcher.ts";
import type { Platform } from "../../platform.ts";
import { type DeliveriesJob, isFirstAttempts, isLineTurn } from "../../queues/deliveries.ts";
import type { Work } from "../../queues/run-worker.ts";
import type { RetryOptions } from "../attempt/attempt.ts";
import { type Made, recordFirst } from "../attempt/record.ts";
import { openSettle } from "../dispatch/outbox.ts";
import { openLanes } from "../limits/permit-cache.ts";
import { openPace } from "../limits/rate.ts";
import type { DeliveryPlatform } from "./attempt-delivery.ts";
import { takeTurn } from "./drain.ts";
import { attemptFirst } from "./first-attempts.ts";
import type { ToSend } from "./load-first-attempts.ts";
import { processDelivery } from "./next-attempt.ts";
import { lineUp } from "./park.ts";

/** Attempts recorded in one write. */
const RECORDED_AT_ONCE = 200;
/** What a worker that stops waits for Redis to take its places back. */
const GIVE_BACK_MS = 500;

/** What the deliveries worker of a process does, with what its jobs share: lanes, batched records, slow attempts. */
export function openDeliveries(
  platform: DeliveryPlatform & Pick<Platform, "processId" | "log">,
  options: RetryOptions,
) {
  const slow = new Map<Promise<unknown>, (reason: unknown) => void>();
  const record = gather((made: Made[]) => recordFirst(platform, made), {
    most: RECORDED_AT_ONCE,
    atOnce: 2,
    ...IN_COMPANY,
  });
  const shared = {
    ...options,
    lanes: openLanes(platform, platform.processId),
    pace: openPace(platform),
    lineUp: gather((waiting: ToSend[]) => lineUp(platform, waiting), { most: RECORDED_AT_ONCE }),
    settle: openSettle(platform),
    record,
    goOn(work: Promise<unknown>, stop: (reason: unknown) => void) {
      slow.set(work, stop);
      void work.finally(() => slow.delete(work));
    },
  };
  return {
    work(work: Work<DeliveriesJob>): Promise<Record<string, unknown>> {
      const { job, begun, signal } = work;
      if (isFirstAttempts(job)) return attemptFirst(platform, { job, begun, signal }, shared);
      if (isLineTurn(job)) return takeTurn(platform, { ...work, job }, options);
      return processDelivery(platform, { job, signal }, options);
    },

    /** Lets attempts that left their jobs end, and stops them after `deadlineMs`: they are pending then. */
    async close(deadlineMs: number): Promise<void> {
      const timer = setTimeout(() => {
        for (const stop of slow.values()) stop(new Error("the worker stops"));
      }, deadlineMs);
      await Promise.allSettled([...slow.keys()]);
      clearTimeout(timer);
      // With Redis away they run out by themselves.
      const late = new Promise(resolve => setTimeout(resolve, GIVE_BACK_MS).unref());
      await Promise.race([shared.lanes.close().catch(() => undefined), late]);
    },
  };
}
