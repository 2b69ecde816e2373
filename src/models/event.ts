import { Schema } from "mongoose";
import type { Listener } from "../queues/deliveries.ts";
import { collection, schemaOptions } from "../store/mongo.ts";

/**
 * The whole of an event that is delivered or too large for its summary: stored once, however many listen to it.
 * Redis holds the summary of each event; this holds what Redis should not (docs/decisions/0004).
 */
export interface StoredEvent {
  /** `payloadId`: an emission processed twice has one payload and one event id. */
  _id: string;
  emitter_id: string;
  owner_id: string;
  event_id: string;
  /** Order of the event id, for ranges. */
  score: number;
  name: string;
  /** JSON. */
  event: string;
  /** True when deliveries need it; else it goes with its summary. */
  delivered: boolean;
  created_at: Date;
  /** What is known of its first attempts until each of them is recorded as a delivery; then absent. */
  undelivered?: Undelivered;
}

/** For the sweep: should the job be lost with Redis, this makes another. */
export interface Undelivered {
  listeners: Listener[];
  /** Id of the job that makes the first attempts. */
  group: string;
  /** When the sweep looks whether that job still exists. Unix milliseconds. */
  sweep_at_ms: number;
}

/** Emit ids are their emitter's own: two workflows may well call an emission `order-1`. */
export const payloadId = (emitterId: string, emitId: string): string => `${emitterId}-${emitId}`;

/** As long as attempts are logged and a failed delivery may be retried (design.md, "Delivery to a webhook"). */
export const EVENT_KEPT_SECONDS = 30 * 86_400;

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
      delivered: { type: Boolean, required: true },
      created_at: { type: Date, required: true },
      undelivered: { type: Schema.Types.Mixed, default: undefined },
    },
    schemaOptions,
  )
    .index({ created_at: 1 }, { expireAfterSeconds: EVENT_KEPT_SECONDS })
    .index({ emitter_id: 1, score: 1 })
    // The sweep looks for first attempts whose time has long come.
    .index(
      { "undelivered.sweep_at_ms": 1 },
      {
        name: "undelivered",
        partialFilterExpression: { "undelivered.sweep_at_ms": { $gt: 0 } },
      },
    ),
);
