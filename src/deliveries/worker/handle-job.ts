import { createBatcher, LINGER } from "../../lib/batcher.ts";
import { settlesWithin } from "../../lib/deadline.ts";
import type { Delivery } from "../../models/delivery.ts";
import type { Platform } from "../../platform.ts";
import type { deliveries } from "../../queues/deliveries.ts";
import type { JobHandlers } from "../../queues/run-worker.ts";
import type { RetryOptions } from "../attempt/attempt.ts";
import { RECORDS_PER_WRITE, recordDropped, recordFirstAttempts, type ToRecord } from "../attempt/record.ts";
import { openClearPendingDispatch } from "../dispatch/outbox.ts";
import { InFlight } from "../limits/in-flight.ts";
import { PermitCache } from "../limits/permit-cache.ts";
import { openRateLimits } from "../limits/rate.ts";
import { openAttemptTools } from "./attempt-tools.ts";
import type { DeliveryDeps } from "./deps.ts";
import { Detached } from "./detached.ts";
import { drain } from "./drain.ts";
import { makeFirstAttempts, type SharedByAttempts } from "./first-attempts.ts";
import type { ToSend } from "./load-first-attempts.ts";
import { makeNextAttempt } from "./next-attempt.ts";
import { park } from "./park.ts";
import { recoverFailed } from "./recover.ts";
import { runReplay } from "./replay.ts";

/** How long a stopping worker waits for Redis to take its permits back. */
const RELEASE_MS = 500;

type Schemas = { [Name in keyof typeof deliveries.jobs]: (typeof deliveries.jobs)[Name]["schema"] };

export interface DeliveriesHandler {
  handlers: JobHandlers<Schemas>;
  /** Waits for detached attempts; after `deadlineMs` it stops them, and they stay pending. */
  close(deadlineMs: number): Promise<void>;
}

/** Opens the handlers of the `deliveries` queue with what the jobs of one process share. */
export function openDeliveriesHandler(
  platform: DeliveryDeps & Pick<Platform, "processId">,
  options: RetryOptions,
): DeliveriesHandler {
  const detached = new Detached();
  const inFlight = new InFlight(platform.metrics);
  const permitCache = new PermitCache(platform, platform.processId);
  const shared: SharedByAttempts = {
    ...openAttemptTools(platform, options),
    detached,
    inFlight,
    permitCache,
    rateLimits: openRateLimits(platform),
    park: createBatcher((waiting: ToSend[]) => park(platform, waiting), { maxWeight: RECORDS_PER_WRITE }),
    recordDropped: createBatcher((dropped: Delivery[]) => recordDropped(platform, dropped), {
      maxWeight: RECORDS_PER_WRITE,
    }),
    clearPendingDispatch: openClearPendingDispatch(platform),
    record: createBatcher((attempted: ToRecord[]) => recordFirstAttempts(platform, attempted), {
      maxWeight: RECORDS_PER_WRITE,
      concurrency: 2,
      ...LINGER,
    }),
  };
  return {
    handlers: {
      "first-attempts": context => makeFirstAttempts(platform, context, shared),
      "next-attempt": context => makeNextAttempt(platform, context, shared),
      drain: context => drain(platform, context, shared),
      recover: context => recoverFailed(platform, context),
      replay: context => runReplay(platform, context),
    },
    async close(deadlineMs) {
      await detached.close(deadlineMs);
      // If Redis is away, the permits expire.
      await settlesWithin(
        permitCache.close().catch(() => undefined),
        RELEASE_MS,
      );
    },
  };
}
