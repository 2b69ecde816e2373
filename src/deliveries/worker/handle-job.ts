import { createBatcher, LINGER } from "../../lib/batcher.ts";
import { settlesWithin } from "../../lib/time.ts";
import type { Delivery } from "../../models/delivery.ts";
import type { Awaited, Calling, Working } from "../../platform.ts";
import type { deliveries } from "../../queues/deliveries.ts";
import { enqueueDrain } from "../../queues/enqueue-drain.ts";
import type { JobHandlers } from "../../queues/run-worker.ts";
import type { RetryOptions } from "../attempt/attempt.ts";
import {
  RECORDS_PER_WRITE,
  recordDropped,
  recordFirstAttempts,
  recordLaterAttempts,
  type ToRecord,
} from "../attempt/record.ts";
import { openClearPendingDispatch } from "../dispatch/dispatch.ts";
import { InFlight } from "../limits/in-flight.ts";
import { PermitCache } from "../limits/permit-cache.ts";
import { openRateLimits } from "../limits/rate.ts";
import { drain } from "./drain.ts";
import { makeFirstAttempts } from "./first-attempts.ts";
import { openAttemptReads } from "./load-due.ts";
import { Detached } from "./make-attempts.ts";
import { parkFirstAttempts } from "./put-off.ts";
import { recoverFailed } from "./recover.ts";
import { runReplay } from "./replay.ts";
import type { SharedByAttempts } from "./shared.ts";
import { openTransform } from "./transform.ts";

/** How long a stopping worker waits for Redis to take its permits back. */
const RELEASE_MS = 500;

type Schemas = { [Name in keyof typeof deliveries.jobs]: (typeof deliveries.jobs)[Name]["schema"] };

export interface DeliveriesHandler {
  handlers: JobHandlers<Schemas>;
  /** Waits for detached attempts; after `deadlineMs` it stops them, and they stay pending. */
  close(deadlineMs: number): Promise<void>;
}

/** Opens what the attempts of one process share; `options` change the retries of tests. */
export function openSharedByAttempts(
  platform: Working & Calling & Awaited,
  options: RetryOptions = {},
): SharedByAttempts {
  const many = { maxWeight: RECORDS_PER_WRITE };
  return {
    ...options,
    reads: openAttemptReads(platform),
    transform: openTransform(platform),
    detached: new Detached(),
    inFlight: new InFlight(platform.metrics),
    permitCache: new PermitCache(platform, platform.processId),
    rateLimits: openRateLimits(platform),
    park: createBatcher((waiting: Delivery[]) => parkFirstAttempts(platform, waiting), many),
    recordDropped: createBatcher((dropped: Delivery[]) => recordDropped(platform, dropped), many),
    record: createBatcher((attempted: ToRecord[]) => recordFirstAttempts(platform, attempted), {
      ...many,
      concurrency: 2,
      ...LINGER,
    }),
    // A later attempt is recorded without waiting for others to join it: few end at the same time.
    recordLater: createBatcher((attempted: ToRecord[]) => recordLaterAttempts(platform, attempted), {
      ...many,
      concurrency: 2,
    }),
    clearPendingDispatch: openClearPendingDispatch(platform),
  };
}

/** Opens the handlers of the `deliveries` queue with what the jobs of one process share. */
export function openDeliveriesHandler(
  platform: Working & Calling & Awaited,
  options: RetryOptions,
): DeliveriesHandler {
  const shared = openSharedByAttempts(platform, options);
  return {
    handlers: {
      "first-attempts": context => makeFirstAttempts(platform, context, shared),
      "next-attempt": async ({ job: { webhook_id, account_id } }) => {
        await enqueueDrain(platform, { _id: webhook_id, owner_id: account_id });
        return { webhook_id, result: "drained" };
      },
      drain: context => drain(platform, context, shared),
      recover: context => recoverFailed(platform, context),
      replay: context => runReplay(platform, context),
    },
    async close(deadlineMs) {
      await shared.detached.close(deadlineMs);
      // If Redis is away, the permits expire.
      await settlesWithin(
        shared.permitCache.close().catch(() => undefined),
        RELEASE_MS,
      );
    },
  };
}
