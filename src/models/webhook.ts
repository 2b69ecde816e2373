import { Schema } from "mongoose";
import { collection, schemaOptions } from "../store/mongo.ts";

export interface SigningKey {
  /** `whsec_…`, sealed. */
  sealed: string;
  /** Unix milliseconds after which it no longer signs; null for the current one. */
  expires_at_ms: number | null;
}

export interface Webhook {
  _id: string;
  owner_id: string;
  user_id: string;
  name: string | null;
  description: string | null;
  url: string;
  active: boolean;
  /** Why the platform switched it off; null when its owner did, or it is on. */
  disabled_reason: string | null;
  /** Newest first; an older one signs too until it expires. */
  signing_keys: SigningKey[];
  /** JSON of the custom headers, sealed; null for none. */
  headers: string | null;
  /** Their names, which is all that is shown of them. */
  header_names: string[];
  /** Unix milliseconds of the first failure since the last success; null while it works. */
  failing_since_ms: number | null;
  /** Deliveries in flight at once; null for the installation's `DELIVERY_PER_WEBHOOK`. */
  max_in_flight: number | null;
  /** Attempts begun in a second; null for no limit. */
  rate_limit_per_second: number | null;
  /** True: the events of one emitter go out one after the other, as they were emitted. */
  ordered: boolean;
  created_at: number;
  updated_at: number;
}

export const Webhooks = collection<Webhook>(
  "webhooks",
  new Schema<Webhook>(
    {
      _id: { type: String, required: true },
      owner_id: { type: String, required: true },
      user_id: { type: String, required: true },
      name: { type: String, default: null },
      description: { type: String, default: null },
      url: { type: String, required: true },
      active: { type: Boolean, required: true },
      disabled_reason: { type: String, default: null },
      signing_keys: {
        type: [
          new Schema<SigningKey>(
            { sealed: { type: String, required: true }, expires_at_ms: { type: Number, default: null } },
            { _id: false },
          ),
        ],
        required: true,
      },
      headers: { type: String, default: null },
      header_names: { type: [String], required: true },
      failing_since_ms: { type: Number, default: null },
      max_in_flight: { type: Number, default: null },
      rate_limit_per_second: { type: Number, default: null },
      ordered: { type: Boolean, default: false },
      created_at: { type: Number, required: true },
      updated_at: { type: Number, required: true },
    },
    schemaOptions,
  )
    .index({ owner_id: 1, _id: -1 })
    // Counted for the metrics.
    .index(
      { failing_since_ms: 1 },
      { name: "failing", partialFilterExpression: { active: true, failing_since_ms: { $gt: 0 } } },
    )
    .index(
      { disabled_reason: 1 },
      { name: "disabled", partialFilterExpression: { disabled_reason: { $gt: "" } } },
    ),
);
