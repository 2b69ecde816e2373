import { Schema } from "mongoose";
import { LIMITS } from "../limits/catalogue.ts";
import type { LogLine } from "../sandbox/protocol.ts";
import { collection, schemaOptions } from "../store/connections/mongo.ts";
import type { PutOff } from "../store/sweeps/put-off.ts";
import { EVENT_KEPT_SECONDS } from "./event.ts";

/**
 * `pending`: the next attempt is due at `next_attempt_at_ms`. `delivered`: the endpoint returned a 2xx. `failed`: the
 * retry schedule is exhausted, the webhook is disabled or the payload is gone. `cancelled`: the webhook or the
 * subscription was deleted, or access was lost (docs/states.md#delivery).
 */
export const DELIVERY_STATES = ["pending", "delivered", "failed", "cancelled"] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** One POST to the endpoint and its result. */
export interface AttemptRecord {
  number: number;
  /** Unix milliseconds. */
  at_ms: number;
  trigger: "schedule" | "manual";
  /** HTTP status; null if no response arrived. */
  status: number | null;
  latency_ms: number;
  /** Why it counts as failed; null for a success. */
  error: string | null;
  /** The first KB of the response body; of an action, of its summary, or else of what it returned. */
  response: string;
  /** JSON of the ActionOutput of an action; its exports may have names that can't be fields. */
  output?: string;
}

/** What is kept of an action's run (docs/actions.md). */
export interface ActionOutput {
  summary: string | null;
  exports: Record<string, unknown>;
  return_value: unknown;
  /** True if something did not fit. */
  truncated: boolean;
  logs: LogLine[];
}

/** Manual retries are unlimited, a document is not: the newest attempts are kept. */
export const MAX_ATTEMPTS_KEPT = LIMITS.attemptsKept.value;

/** Why a delivery failed or was cancelled. */
export type EndReason =
  | "exhausted"
  | "gone"
  | "webhook-disabled"
  | "payload-gone"
  | "webhook-deleted"
  | "subscription-deleted"
  | "access-lost"
  | "by-request"
  | "dropped-by-function";

export interface Delivery {
  /** Derived from emit id and subscription: this unique index is why a repeated fan-out delivers once. */
  _id: string;
  webhook_id: string;
  owner_id: string;
  subscription_id: string;
  /** The owner of the subscription, which may be deleted with its emitter; absent in a delivery of an earlier release. */
  subscriber_id?: string;
  emitter_id: string;
  emit_id: string;
  event_id: string;
  event_name: string;
  /** The event id as a score, by which an ordered webhook receives its deliveries. */
  event_score: number;
  state: DeliveryState;
  reason: EndReason | null;
  /** How many times an attempt was scheduled; the result of one of an earlier generation changes no state. */
  generation: number;
  /** Attempts made since the retry schedule started; a manual retry restarts it. */
  retry_index: number;
  /** Whether the schedule or a manual retry asked for the next attempt. */
  trigger: AttemptRecord["trigger"];
  /** The newest MAX_ATTEMPTS_KEPT; numbering goes on. */
  attempts: AttemptRecord[];
  next_attempt_at_ms: number | null;
  /**
   * When the sweep looks at the delivery: as soon as it is due if the next attempt is far away, and has no drain; otherwise later,
   * in case the drain was lost. Null once no attempt is to follow.
   */
  sweep_at_ms: number | null;
  put_off?: PutOff;
  /** Set while an attempt is in flight that has left its job; until then no other is due. */
  in_flight_until_ms?: number;
  created_at: Date;
  finished_at_ms: number | null;
  /** The issue that its last failed attempt counts for; absent without one. */
  issue_id?: string;
  /** The trace context of its event. */
  trace?: string;
  /** How many listeners led to its event; absent for none. */
  hops?: number;
  /** The function that its subscription had when the event was emitted; absent without one. */
  function_hash?: string;
}

/** Name of the index of deliveries with an issue, and of those of an account that wait for a retry. */
export const ISSUE = "issue";
export const RETRIES = "retries_of_owner";

/** Fields of a delivery that has ended, whatever its result. */
export const NO_FURTHER_ATTEMPT = { next_attempt_at_ms: null, sweep_at_ms: null } as const;

export const Deliveries = collection<Delivery>(
  "deliveries",
  new Schema<Delivery>(
    {
      _id: { type: String, required: true },
      webhook_id: { type: String, required: true },
      owner_id: { type: String, required: true },
      subscription_id: { type: String, required: true },
      subscriber_id: { type: String, default: undefined },
      emitter_id: { type: String, required: true },
      emit_id: { type: String, required: true, index: true },
      event_id: { type: String, required: true },
      event_name: { type: String, default: "" },
      event_score: { type: Number, default: 0 },
      state: { type: String, required: true, enum: DELIVERY_STATES },
      reason: { type: String, default: null },
      generation: { type: Number, required: true },
      retry_index: { type: Number, required: true },
      trigger: { type: String, required: true, enum: ["schedule", "manual"] },
      attempts: { type: [Schema.Types.Mixed] as unknown as AttemptRecord[], required: true },
      next_attempt_at_ms: { type: Number, default: null },
      sweep_at_ms: { type: Number, default: null },
      put_off: { type: Schema.Types.Mixed, default: undefined },
      in_flight_until_ms: { type: Number, default: undefined },
      created_at: { type: Date, required: true },
      finished_at_ms: { type: Number, default: null },
      issue_id: { type: String, default: undefined },
      trace: { type: String, default: undefined },
      hops: { type: Number, default: undefined },
      function_hash: { type: String, default: undefined },
    },
    schemaOptions,
  )
    .index({ created_at: 1 }, { expireAfterSeconds: EVENT_KEPT_SECONDS })
    .index({ webhook_id: 1, _id: -1 })
    .index({ webhook_id: 1, state: 1, _id: -1 })
    // What waits at an ordered webhook, in order.
    .index(
      { webhook_id: 1, event_score: 1, _id: 1 },
      { name: "ordered", partialFilterExpression: { state: "pending" } },
    )
    // What is due at a webhook, longest due first.
    .index(
      { webhook_id: 1, next_attempt_at_ms: 1 },
      { name: "due_at_webhook", partialFilterExpression: { state: "pending" } },
    )
    // The metrics read how long the most overdue delivery has been due.
    .index(
      { next_attempt_at_ms: 1 },
      { name: "due", partialFilterExpression: { state: "pending", next_attempt_at_ms: { $gt: 0 } } },
    )
    // What an issue is about; none of the deliveries that never failed.
    .index(
      { issue_id: 1, state: 1, _id: -1 },
      { name: ISSUE, partialFilterExpression: { issue_id: { $gt: "" } } },
    )
    // What waits for a retry at all webhooks of an account, and the oldest of it; its last two fields are for counting.
    .index(
      { owner_id: 1, _id: 1, state: 1, issue_id: 1 },
      { name: RETRIES, partialFilterExpression: { state: "pending", issue_id: { $gt: "" } } },
    )
    // The sweep finds pending deliveries that are overdue, also those of all accounts but some.
    .index({ state: 1, sweep_at_ms: 1, owner_id: 1 }, { partialFilterExpression: { state: "pending" } }),
);

/** What a function made of an event for one delivery: each of its attempts sends the same bytes (docs/functions.md). */
export interface TransformedPayload {
  /** The delivery's id. */
  _id: string;
  /** The stored event's id, with which it is deleted. */
  emit_id: string;
  /** JSON. */
  body: string;
  created_at: Date;
}

export const TransformedPayloads = collection<TransformedPayload>(
  "transformed_payloads",
  new Schema<TransformedPayload>(
    {
      _id: { type: String, required: true },
      emit_id: { type: String, required: true, index: true },
      body: { type: String, required: true },
      created_at: { type: Date, required: true },
    },
    schemaOptions,
  ).index({ created_at: 1 }, { expireAfterSeconds: EVENT_KEPT_SECONDS }),
);
