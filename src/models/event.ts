import { Schema } from "mongoose";
import { LIMITS } from "../limits/catalogue.ts";
import type { WebhookListener } from "../queues/deliveries.ts";
import { collection, schemaOptions } from "../store/connections/mongo.ts";
import type { PutOff } from "../store/sweeps/put-off.ts";

/**
 * The payload of an event that goes to webhooks or is too large for its summary, stored once however many listen to it.
 * Redis holds the summary of every event; this holds what Redis should not
 * (docs/decisions/0004-summaries-in-redis-payloads-in-mongodb.md).
 */
export interface StoredEvent {
  /** `storedEventId`: an emission handled twice has one payload and one event id. */
  _id: string;
  emitter_id: string;
  owner_id: string;
  event_id: string;
  /** The event id as a score, for ranges. */
  score: number;
  name: string;
  /** JSON. */
  event: string;
  /** True if webhooks receive it: then it is kept for retries. Otherwise it goes when its summary goes. */
  has_webhook_listeners: boolean;
  /** What a search of deliveries finds it by (src/lib/payload-words.ts); absent without webhooks, and without words. */
  words?: number[];
  created_at: Date;
  /** Published under an id of the caller's: kept, whatever its listeners, so that the same id is not a new event. */
  has_caller_id?: true;
  /** Its place in a trace (src/tracing/trace-context.ts): all attempts are below it, however late. */
  trace?: string;
  /** How many listeners led to it; absent for none. */
  hops?: number;
  /** The first attempts still to be made or recorded; absent once each of them is a delivery of its own. */
  pending_dispatch?: PendingDispatch;
}

/** What the sweep needs to dispatch an event again if its job is lost with Redis. */
export interface PendingDispatch {
  listeners: WebhookListener[];
  /** The functions of those that have one, by subscription. */
  functions?: Record<string, string>;
  /**
   * The ordered webhooks among the listeners, or all of a few listeners: for the index by which an ordered webhook finds
   * what it still has to wait for.
   */
  webhook_ids: string[];
  /** The job that makes the first attempts. */
  job_id: string;
  /** When the sweep checks that this job still exists. Unix milliseconds. */
  sweep_at_ms: number;
  put_off?: PutOff;
}

/** Emit ids are unique per emitter only: two workflows may both call an emission `order-1`. */
export const storedEventId = (emitterId: string, emitId: string): string => `${emitterId}-${emitId}`;

/** As long as attempts are logged and a failed delivery may be retried (docs/design.md#delivery-to-a-webhook). */
export const EVENT_KEPT_SECONDS = LIMITS.deliveryKeptMs.value / 1000;

/** The index that finds an account's events with a word, in order. */
export const WORDS_INDEX = { owner_id: 1, words: 1, score: -1 } as const;

export const StoredEvents = collection<StoredEvent>(
  "events",
  new Schema<StoredEvent>(
    {
      _id: { type: String, required: true },
      emitter_id: { type: String, required: true },
      owner_id: { type: String, required: true },
      event_id: { type: String, required: true },
      score: { type: Number, required: true },
      name: { type: String, default: "" },
      event: { type: String, required: true },
      has_webhook_listeners: { type: Boolean, required: true },
      words: { type: [Number], default: undefined },
      created_at: { type: Date, required: true },
      has_caller_id: { type: Boolean, default: undefined },
      trace: { type: String, default: undefined },
      hops: { type: Number, default: undefined },
      pending_dispatch: { type: Schema.Types.Mixed, default: undefined },
    },
    schemaOptions,
  )
    .index({ created_at: 1 }, { expireAfterSeconds: EVENT_KEPT_SECONDS })
    .index({ emitter_id: 1, score: 1 })
    // The search by text in the payload (docs/decisions/0027-text-in-payloads.md).
    .index(WORDS_INDEX, { partialFilterExpression: { words: { $exists: true } } })
    // The sweep finds dispatches that are overdue.
    .index(
      { "pending_dispatch.sweep_at_ms": 1 },
      {
        name: "pending_dispatch",
        partialFilterExpression: { "pending_dispatch.sweep_at_ms": { $gt: 0 } },
      },
    )
    // An ordered webhook finds its own events that are not recorded as deliveries yet, in order.
    .index(
      { "pending_dispatch.webhook_ids": 1, score: 1 },
      {
        name: "pending_at_webhook",
        partialFilterExpression: { "pending_dispatch.sweep_at_ms": { $gt: 0 } },
      },
    ),
);
