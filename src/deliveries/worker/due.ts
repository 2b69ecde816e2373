import { setTimeout as delay } from "node:timers/promises";
import { Deliveries, type Delivery } from "../../models/delivery.ts";
import type { Webhook } from "../../models/webhook.ts";
import type { Calling, Working } from "../../platform.ts";
import type { Attempted, RetryOptions } from "../attempt/attempt.ts";
import { drainWhenDue, dueFields } from "../attempt/next-attempt.ts";
import { insertNew, type ToRecord } from "../attempt/record.ts";
import { type DispatchedEvent, type DispatchListener, newDelivery } from "../dispatch/create.ts";
import type { ClearPendingDispatch } from "../dispatch/dispatch.ts";
import type { InFlight } from "../limits/in-flight.ts";
import type { NoPermit, PermitCache } from "../limits/permit-cache.ts";
import { attemptMs, type RateLimits } from "../limits/webhook-limits.ts";
import type { AttemptReads } from "./handle-job.ts";
import type { Detached } from "./make-attempts.ts";
import type { Transform, Transformed } from "./transform.ts";

/** A store that is away is tried again after this. Milliseconds. */
const AGAIN_MS = 1000;
/** Later, the sweep looks at the delivery by itself. Milliseconds. */
const GIVE_UP_MS = 60_000;

/** Ids and results for log lines. Never a URL, which may hold a secret, nor a header. */
export type LogFields = Record<string, unknown>;

/** An attempt that is due. */
export interface Due {
  deliveryId: string;
  event: DispatchedEvent;
  listener: DispatchListener;
  webhook: Webhook;
  /** JSON of the event. */
  body: string;
  /** The function that makes of the event what is sent; null without one. */
  functionHash: string | null;
  /** The pending delivery, with its last attempt; undefined until the first attempt is recorded or has to wait. */
  row: Delivery | undefined;
}

/** An attempt on its way. */
export interface Attempt extends Due {
  state: "waiting" | "transforming" | "in-flight" | "responded" | "done";
  /** Set once the attempt outlives its job: the delivery that its result is recorded in, once nothing else finds it due. */
  pending?: Promise<Delivery>;
  /** What its function makes of the event; undefined without a function. */
  transformed: Promise<Transformed> | undefined;
}

/** The pending delivery of an attempt, if it has one by now. */
export const rowOf = async ({ row, pending }: Attempt): Promise<Delivery | undefined> =>
  (await pending) ?? row;

/** The delivery of an attempt that has none in MongoDB yet: pending, and due now. */
export const newRow = (
  platform: Working & Calling,
  { event, listener, webhook, deliveryId }: Attempt,
): Delivery => newDelivery(platform, event, listener, webhook, deliveryId);

/** What is due at a webhook now; `waitMs`: when the first one is due that holds up the others, if none is. */
export interface DueNow {
  rows: Delivery[];
  waitMs?: number;
}

/** Calls `send` once the webhook may be sent to; returns a NoPermit, without calling it, if that is not soon. */
export type Admit = (webhook: Webhook, send: () => Promise<Attempted>) => Promise<Attempted | NoPermit>;

/** What the attempts of one process share. */
export interface SharedByAttempts extends RetryOptions {
  reads: AttemptReads;
  transform: Transform;
  detached: Detached;
  inFlight: InFlight;
  permitCache: PermitCache;
  rateLimits: RateLimits;
  /** Records first attempts that have to wait as deliveries that are due at their `next_attempt_at_ms`, many at a time. */
  park: (waiting: Delivery) => Promise<void>;
  /** Records first attempts whose events their function dropped, many at a time. */
  recordDropped: (dropped: Delivery) => Promise<void>;
  /** Records first attempts, many at a time. */
  record: (attempted: ToRecord) => Promise<void>;
  /** Records a later attempt, with those that end at the same time; returns false if its delivery had moved on. */
  recordLater: (attempted: ToRecord) => Promise<boolean>;
  clearPendingDispatch: ClearPendingDispatch;
}

/**
 * Has an attempt made later that is not made now: its delivery is a pending document that is due in so many milliseconds, and its
 * webhook is drained then. Nothing else holds it. Throws `unavailable`.
 */
export async function putOff(
  platform: Working & Calling,
  attempt: Attempt,
  delayMs: number,
  shared: Pick<SharedByAttempts, "park">,
): Promise<void> {
  // The drain that has found it due leaves it due.
  if (attempt.row && !attempt.pending && delayMs === 0) return;
  const row = await rowOf(attempt);
  if (row) await makeDue(platform, row, delayMs);
  else await shared.park({ ...newRow(platform, attempt), ...dueFields(platform, delayMs) });
}

/** Records first attempts that have to wait, and has their webhooks drained when they are due. Throws `unavailable`. */
export async function parkFirstAttempts(platform: Working & Calling, waiting: Delivery[]): Promise<void> {
  await insertNew(platform, waiting);
  await drainWhenDue(platform, waiting);
}

/** Makes a pending delivery due in so many milliseconds, unless it has moved on. Throws `unavailable`. */
export async function makeDue(platform: Working & Calling, row: Delivery, delayMs: number): Promise<void> {
  const { _id, generation } = row;
  const due = dueFields(platform, delayMs);
  await Deliveries(platform.mongo).updateOne(
    // If an attempt was recorded after all, this is another generation.
    { _id, state: "pending", generation },
    { $set: due, $unset: { in_flight_until_ms: 1 } },
  );
  await drainWhenDue(platform, [{ ...row, ...due }]);
}

/**
 * Makes the deliveries of attempts that outlive their job pending documents that are due once the attempts must have ended, so
 * that nothing else attempts them until then, and a crash loses none. Throws `unavailable`.
 */
export async function leaveJob(platform: Working & Calling, slow: Attempt[]): Promise<void> {
  const rows = slow.map((attempt): Delivery => {
    const until = platform.clock() + attemptMs(platform, attempt.webhook);
    const row = attempt.row ?? newRow(platform, attempt);
    return { ...row, next_attempt_at_ms: until, sweep_at_ms: until, in_flight_until_ms: until };
  });
  const isStored = (_: unknown, i: number) => slow[i]?.row !== undefined;
  const written = Promise.all([
    insertNew(
      platform,
      rows.filter((row, i) => !isStored(row, i)),
    ),
    updateInFlight(platform, rows.filter(isStored)),
  ]);
  for (const [i, attempt] of slow.entries()) {
    const row = rows[i] as Delivery;
    // A stored delivery takes its result all the same.
    attempt.pending = written.then(
      () => row,
      error => attempt.row ?? Promise.reject(error),
    );
    // Each attempt awaits it when it has ended; a rejection without a listener until then would end the process.
    attempt.pending.catch(() => undefined);
  }
  await written;
}

/** Writes until when attempts of stored deliveries are in flight, but for deliveries that have moved on. */
async function updateInFlight({ mongo }: Working & Calling, rows: Delivery[]): Promise<void> {
  if (rows.length === 0) return;
  await Deliveries(mongo).bulkWrite(
    rows.map(({ _id, generation, next_attempt_at_ms, sweep_at_ms, in_flight_until_ms }) => ({
      updateOne: {
        filter: { _id, state: "pending", generation },
        update: { $set: { next_attempt_at_ms, sweep_at_ms, in_flight_until_ms } },
      },
    })),
    { ordered: false },
  );
}

/**
 * Has an attempt repeated that failed, by a fault of ours, after its job was over. Its delivery was left to a sweep after the
 * attempt's longest time (docs/design.md#guarantee-5). Tries again while a store is away, until `signal` is aborted, because the
 * worker stops. Never throws.
 */
export async function repeatDetached(
  platform: Working & Calling,
  attempt: Attempt,
  signal: AbortSignal,
): Promise<void> {
  const givesUpAt = performance.now() + GIVE_UP_MS;
  do {
    try {
      const row = await rowOf(attempt);
      if (row) await makeDue(platform, row, 0);
      return;
    } catch {
      await delay(AGAIN_MS, undefined, { signal }).catch(() => undefined);
    }
  } while (!signal.aborted && performance.now() < givesUpAt);
}
