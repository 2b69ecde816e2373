import { Schema } from "mongoose";
import { collection, schemaOptions } from "../store/connections/mongo.ts";
import { EVENT_KEPT_SECONDS } from "./event.ts";

/**
 * How far a destination of kind `pull` is. In its own document: it is deleted with it, and MongoDB lets no two writers of one
 * document commit at once, so positions are given one after another, also beside an acknowledgement.
 */
export interface PullState {
  /** The position of the last event that was kept for it; the first one has 1. */
  last: number;
  /** Everything up to this position is acknowledged, and never shown again. */
  acknowledged: number;
  /** Since when something waits and nothing was acknowledged; Unix milliseconds. Means nothing while nothing waits. */
  waiting_since_ms: number;
}

export const NOTHING_PULLED: PullState = { last: 0, acknowledged: 0, waiting_since_ms: 0 };

/**
 * An event that is kept for a program to pull. It only points to the stored event, or to what a function made of it, so
 * that an event is stored once however many listeners it has, and is gone everywhere when its owner deletes it.
 */
export interface PulledEvent {
  /**
   * The delivery's id and the number of its retry schedule: an attempt that is repeated after a crash keeps nothing twice, also
   * if the event was acknowledged in between, and a retry by hand does.
   */
  _id: string;
  listener_id: string;
  /** In the order in which they were kept, without a gap: a gap says that something is gone. */
  position: number;
  delivery_id: string;
  emitter_id: string;
  event_id: string;
  event_name: string;
  /** Of its body. */
  bytes: number;
  /** What it points to; absent for a test, which has its body instead. */
  stored?: PulledFrom;
  /** JSON of a test. */
  body?: string;
  created_at: Date;
}

/** Where the body of a kept event is, and who had it sent. */
export interface PulledFrom {
  /** The stored event's id. */
  emit_id: string;
  subscription_id: string;
  subscriber_id: string;
  /** True if the subscription's function may have made something else of it. */
  is_transformed: boolean;
}

export const PulledEvents = collection<PulledEvent>(
  "pulled_events",
  new Schema<PulledEvent>(
    {
      _id: { type: String, required: true },
      listener_id: { type: String, required: true },
      position: { type: Number, required: true },
      delivery_id: { type: String, required: true },
      emitter_id: { type: String, required: true },
      event_id: { type: String, required: true },
      event_name: { type: String, default: "" },
      bytes: { type: Number, required: true },
      stored: { type: Schema.Types.Mixed, default: undefined },
      body: { type: String, default: undefined },
      created_at: { type: Date, required: true },
    },
    schemaOptions,
  )
    // As long as the delivery and its event.
    .index({ created_at: 1 }, { expireAfterSeconds: EVENT_KEPT_SECONDS })
    .index({ listener_id: 1, position: 1 }, { unique: true }),
);
