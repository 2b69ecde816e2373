import { Schema } from "mongoose";
import { collection, schemaOptions } from "../store/connections/mongo.ts";
import { REVISED, type Revised } from "../store/revisions.ts";

export interface Subscription extends Revised {
  _id: string;
  owner_id: string;
  user_id: string;
  /** A workflow or source id, `p_*`, `dc_*`, or an organization's id (all of its emitters). */
  emitter_id: string;
  listener_id: string;
  event_name: string;
  /** JSON of the filter on the event; null for all events. */
  filter: string | null;
  /** The function that each event goes through (`StoredFunction`); absent without one. */
  function_hash?: string;
  /** Events that the function failed on since it was set. */
  function_errors?: number;
  last_function_error?: LastFunctionError;
  created_at: number;
}

/** The last event that a function failed on. */
export interface LastFunctionError {
  message: string;
  /** In the code, from 1; null if it is not known. */
  line: number | null;
  column: number | null;
  event_id: string;
  at_ms: number;
  /** What it wrote to `console` for that event, as far as it is kept. */
  logs: { level: string; message: string; ts: number }[];
}

/** The indexes of the lists of subscriptions that are sorted by what they connect, or by when their function last failed. */
export const SUBSCRIPTION_ORDERS = {
  emitter: { owner_id: 1, emitter_id: 1, _id: -1 },
  listener: { owner_id: 1, listener_id: 1, _id: -1 },
  last_error: { owner_id: 1, "last_function_error.at_ms": -1, _id: -1 },
} as const;

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
      function_hash: { type: String, default: undefined },
      function_errors: { type: Number, default: undefined },
      last_function_error: { type: Schema.Types.Mixed, default: undefined },
      created_at: { type: Number, required: true },
      ...REVISED,
    },
    schemaOptions,
  )
    .index({ function_hash: 1 }, { partialFilterExpression: { function_hash: { $type: "string" } } })
    .index({ emitter_id: 1, event_name: 1, owner_id: 1, listener_id: 1 }, { unique: true })
    .index({ owner_id: 1, _id: -1 })
    // Listed by what they connect, too.
    .index(SUBSCRIPTION_ORDERS.emitter)
    .index(SUBSCRIPTION_ORDERS.listener)
    .index(SUBSCRIPTION_ORDERS.last_error),
);

/** Subscribes a listener to workflows and sources that are created after it (docs/rest-api.md#subscriptions). */
export interface AutoSubscription {
  _id: string;
  owner_id: string;
  user_id: string;
  listener_id: string;
  event_name: string;
  /** The function that the subscriptions get which it creates (`StoredFunction`); absent without one. */
  function_hash?: string;
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
      function_hash: { type: String, default: undefined },
      created_at: { type: Number, required: true },
    },
    schemaOptions,
  )
    .index({ function_hash: 1 }, { partialFilterExpression: { function_hash: { $type: "string" } } })
    .index({ owner_id: 1, listener_id: 1, event_name: 1 }, { unique: true })
    .index({ owner_id: 1, _id: -1 }),
);

/** The code of a function on subscriptions, stored once however many have it (docs/functions.md). */
export interface StoredFunction {
  /** SHA-256 of the code, hex. */
  _id: string;
  /** As it was given. */
  code: string;
  /** The module that the sandbox loads. */
  bundle: string;
  /** How often it was saved; counted so that a deletion at that moment finds it changed. */
  saves: number;
  /** Since when no subscription has it; absent while one does, or until the sweep has looked. */
  unused_since_ms?: number;
}

export const StoredFunctions = collection<StoredFunction>(
  "functions",
  new Schema<StoredFunction>(
    {
      _id: { type: String, required: true },
      code: { type: String, required: true },
      bundle: { type: String, required: true },
      saves: { type: Number, required: true },
      unused_since_ms: Number,
    },
    schemaOptions,
  ),
);
