import { issueCountsOf } from "../../issues/issue-counts.ts";
import { createBatcher, LINGER } from "../../lib/batcher.ts";
import { settlesWithin } from "../../lib/time.ts";
import type { Delivery } from "../../models/delivery.ts";
import { type StoredEvent, StoredEvents } from "../../models/event.ts";
import { type Subscription, Subscriptions } from "../../models/subscription.ts";
import { type Webhook, Webhooks } from "../../models/webhook.ts";
import type { Awaited, Calling, Stores, Working } from "../../platform.ts";
import { type deliveries, enqueueDrain } from "../../queues/deliveries.ts";
import type { JobHandlers } from "../../queues/job-kinds.ts";
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
import { openRateLimits } from "../limits/webhook-limits.ts";
import { drain } from "./drain.ts";
import { parkFirstAttempts, type SharedByAttempts } from "./due.ts";
import { makeFirstAttempts } from "./first-attempts.ts";
import { Detached } from "./make-attempts.ts";
import { recoverFailed } from "./recover.ts";
import { runReplay } from "./replay.ts";
import { openTransform } from "./transform.ts";

/** How long a stopping worker waits for Redis to take its permits back. */
const RELEASE_MS = 500;
/** And for MongoDB to take its last counts of issues. */
const LAST_ISSUES_MS = 1000;

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
      await settlesWithin(issueCountsOf(platform).close(), LAST_ISSUES_MS);
      // If Redis is away, the permits expire.
      await settlesWithin(
        shared.permitCache.close().catch(() => undefined),
        RELEASE_MS,
      );
    },
  };
}

/** What a later attempt reads, as it is now; null if it is absent. */
export interface AttemptReads {
  webhook(id: string): Promise<Webhook | null>;
  /** An event: its payload, as JSON, and the owner of its emitter. */
  event(emitId: string): Promise<Pick<StoredEvent, "event" | "owner_id"> | null>;
  subscription(id: string): Promise<Pick<Subscription, "owner_id" | "function_hash"> | null>;
}

/** Documents of one query. */
const MOST = 100;
/** A payload may have half a megabyte: few at a time, so that an account's large ones don't hold up the small ones of others. */
const PAYLOADS = { maxWeight: 16, concurrency: 4 };

/** Reads what the attempts of one process ask for at the same time in one query of each kind. */
function openAttemptReads({ mongo }: Stores): AttemptReads {
  return {
    webhook: byId(ids =>
      Webhooks(mongo)
        .find({ _id: { $in: ids } })
        .lean<Webhook[]>(),
    ),
    event: byId(
      ids =>
        StoredEvents(mongo)
          .find({ _id: { $in: ids } }, { event: 1, owner_id: 1 })
          .lean(),
      PAYLOADS,
    ),
    subscription: byId(ids =>
      Subscriptions(mongo)
        .find({ _id: { $in: ids } }, { owner_id: 1, function_hash: 1 })
        .lean(),
    ),
  };
}

function byId<Row extends { _id: string }>(
  find: (ids: string[]) => Promise<Row[]>,
  bounds: { maxWeight: number; concurrency?: number } = { maxWeight: MOST },
): (id: string) => Promise<Row | null> {
  return createBatcher<string, Row | null>(async ids => {
    const rows = new Map((await find([...new Set(ids)])).map(row => [row._id, row]));
    return ids.map(id => rows.get(id) ?? null);
  }, bounds);
}
