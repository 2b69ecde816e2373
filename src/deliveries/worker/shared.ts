import type { Delivery } from "../../models/delivery.ts";
import type { Webhook } from "../../models/webhook.ts";
import type { Calling, Working } from "../../platform.ts";
import type { Attempted, RetryOptions } from "../attempt/attempt.ts";
import type { ToRecord } from "../attempt/record.ts";
import { type DispatchedEvent, type DispatchListener, newDelivery } from "../dispatch/create.ts";
import type { ClearPendingDispatch } from "../dispatch/dispatch.ts";
import type { InFlight } from "../limits/in-flight.ts";
import type { NoPermit, PermitCache } from "../limits/permit-cache.ts";
import type { RateLimits } from "../limits/rate.ts";
import type { AttemptReads } from "./load-due.ts";
import type { Detached } from "./make-attempts.ts";
import type { Transform, Transformed } from "./transform.ts";

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
