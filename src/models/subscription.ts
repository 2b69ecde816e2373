import { Schema } from "mongoose";
import { collection, schemaOptions } from "../store/mongo.ts";

export interface Subscription {
  _id: string;
  owner_id: string;
  user_id: string;
  /** A workflow or source id, `p_*`, `dc_*`, or an organization's id (all of its emitters). */
  emitter_id: string;
  listener_id: string;
  event_name: string;
  /** JSON of the filter on the event; null for all events. */
  filter: string | null;
  created_at: number;
}

export const Subscriptions = collection<Subscription>(
  "subscriptions",
  new Schema<Subscription>(
    {
      _id: { type: String, required: true },
      owner_id: { type: String, required: true },
      user_id: { type: String, required: true },
      emitter_id: { type: String, required: true },
      listener_id: { type: String, required: true, index: true },
      event_name: { type: String, default: "" },
      filter: { type: String, default: null },
      created_at: { type: Number, required: true },
    },
    schemaOptions,
  )
    .index({ emitter_id: 1, event_name: 1, owner_id: 1, listener_id: 1 }, { unique: true })
    .index({ owner_id: 1, _id: -1 }),
);

/** Subscribes a listener to workflows and sources that are created after it (docs/rest-api.md#subscriptions). */
export interface AutoSubscription {
  _id: string;
  owner_id: string;
  user_id: string;
  listener_id: string;
  event_name: string;
  created_at: number;
}

export const AutoSubscriptions = collection<AutoSubscription>(
  "auto_subscriptions",
  new Schema<AutoSubscription>(
    {
      _id: { type: String, required: true },
      owner_id: { type: String, required: true },
      user_id: { type: String, required: true },
      listener_id: { type: String, required: true, index: true },
      event_name: { type: String, required: true },
      created_at: { type: Number, required: true },
    },
    schemaOptions,
  )
    .index({ owner_id: 1, listener_id: 1, event_name: 1 }, { unique: true })
    .index({ owner_id: 1, _id: -1 }),
);
