import { Schema } from "mongoose";
import { collection, schemaOptions } from "../store/mongo.ts";
import { EVENT_KEPT_SECONDS } from "./event.ts";

/**
 * `pending`: to be tried at `next_attempt_at_ms`. `delivered`: a 2xx came. `failed`: the schedule is used up, or the
 * webhook was switched off. `cancelled`: webhook or subscription were deleted meanwhile.
 */
export type DeliveryState = "pending" | "delivered" | "failed" | "cancelled";

/** One POST to the endpoint and what came of it. */
export interface Attempt {
  number: number;
  /** Unix milliseconds. */
  at_ms: number;
  trigger: "schedule" | "manual";
  /** HTTP status; null where no answer came. */
  status: number | null;
  latency_ms: number;
  /** Why it counts as failed; null for a success. */
  error: string | null;
  /** First KB of the answer's body. */
  response: string;
}

/** Retries by hand have no end, a document has. */
export const ATTEMPTS_KEPT = 50;

/** Why a delivery is failed or cancelled. */
export type EndReason =
  | "exhausted"
  | "gone"
  | "webhook-disabled"
  | "payload-gone"
  | "webhook-deleted"
  | "subscription-deleted";

export interface Delivery {
  /** Derived from emit id and subscription: the unique index that makes a repeated fan-out deliver once. */
  _id: string;
  webhook_id: string;
  owner_id: string;
  subscription_id: string;
  emitter_id: string;
  emit_id: string;
  event_id: string;
  event_name: string;
  /** Order of the event id, by which an ordered webhook gets its deliveries. */
  event_score: number;
  state: DeliveryState;
  reason: EndReason | null;
  /** A job of an earlier round is void. */
  round: number;
  /** Attempts made since the schedule began; a retry by hand begins it anew. */
  step: number;
  /** Whether the schedule or its owner's hand asked for the next attempt. */
  trigger: Attempt["trigger"];
  /** The newest ATTEMPTS_KEPT; their numbers count on. */
  attempts: Attempt[];
  next_attempt_at_ms: number | null;
  /** When the sweep looks whether its job still exists; null once nothing is to come. */
  sweep_at_ms: number | null;
  created_at: Date;
  finished_at_ms: number | null;
}

/** Fields of a delivery that has ended, whatever its end. */
export const NOTHING_TO_COME = { next_attempt_at_ms: null, sweep_at_ms: null } as const;

export const Deliveries = collection<Delivery>(
  "deliveries",
  new Schema<Delivery>(
    {
      _id: { type: String, required: true },
      webhook_id: { type: String, required: true },
      owner_id: { type: String, required: true },
      subscription_id: { type: String, required: true },
      emitter_id: { type: String, required: true },
      emit_id: { type: String, required: true, index: true },
      event_id: { type: String, required: true },
      event_name: { type: String, default: "" },
      event_score: { type: Number, default: 0 },
      state: { type: String, required: true, enum: ["pending", "delivered", "failed", "cancelled"] },
      reason: { type: String, default: null },
      round: { type: Number, required: true },
      step: { type: Number, required: true },
      trigger: { type: String, required: true, enum: ["schedule", "manual"] },
      attempts: { type: [Schema.Types.Mixed] as unknown as Attempt[], required: true },
      next_attempt_at_ms: { type: Number, default: null },
      sweep_at_ms: { type: Number, default: null },
      created_at: { type: Date, required: true },
      finished_at_ms: { type: Number, default: null },
    },
    schemaOptions,
  )
    .index({ created_at: 1 }, { expireAfterSeconds: EVENT_KEPT_SECONDS })
    .index({ webhook_id: 1, _id: -1 })
    .index({ webhook_id: 1, state: 1, _id: -1 })
    // The line of an ordered webhook.
    .index(
      { webhook_id: 1, event_score: 1, _id: 1 },
      { name: "line", partialFilterExpression: { state: "pending" } },
    )
    // The sweep looks for pending deliveries whose time has long come.
    .index({ state: 1, sweep_at_ms: 1 }, { partialFilterExpression: { state: "pending" } }),
);
