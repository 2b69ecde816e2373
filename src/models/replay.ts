import { Schema } from "mongoose";
import { collection, schemaOptions } from "../store/connections/mongo.ts";

/** What selects the deliveries of a replay, as the request gave it. */
export interface ReplayFilter {
  state?: "pending" | "delivered" | "failed" | "cancelled";
  since?: number;
  until?: number;
  webhook_id?: string;
  issue_id?: string;
  emitter_id?: string;
  event_name?: string;
  status?: string;
  text?: string;
}

/** The retry of all deliveries that a filter selects, which a worker does in batches. */
export interface Replay {
  _id: string;
  owner_id: string;
  /** The accounts whose webhooks and emitters it may name. */
  owners: string[];
  filter: ReplayFilter;
  /** `stopped`: by its owner, or because what its filter names is gone. `failed`: its job failed again and again. */
  state: "running" | "done" | "stopped" | "failed";
  /** Deliveries that were selected when it was requested. */
  count: number;
  count_is_exact: boolean;
  /** Deliveries that are retried, and those that can't be. */
  replayed: number;
  skipped: number;
  /** Deliveries up to this id are done; those from `end_id` on came later than the request. */
  done_id: string;
  end_id: string;
  /** How often its job was given up since the last batch; the sweep counts. */
  failures: number;
  /** Class and beginning of the message of the last error of its job, for operators. */
  error: string | null;
  /** Why it ended before its end, for its owner. */
  reason: string | null;
  created_at: number;
  finished_at_ms: number | null;
  expires_at: Date;
}

export const Replays = collection<Replay>(
  "replays",
  new Schema<Replay>(
    {
      _id: { type: String, required: true },
      owner_id: { type: String, required: true },
      owners: { type: [String], required: true },
      filter: { type: Schema.Types.Mixed, required: true },
      state: { type: String, required: true, enum: ["running", "done", "stopped", "failed"] },
      count: { type: Number, required: true },
      count_is_exact: { type: Boolean, required: true },
      replayed: { type: Number, required: true },
      skipped: { type: Number, required: true },
      done_id: { type: String, required: true },
      end_id: { type: String, required: true },
      failures: { type: Number, default: 0 },
      error: { type: String, default: null },
      reason: { type: String, default: null },
      created_at: { type: Number, required: true },
      finished_at_ms: { type: Number, default: null },
      expires_at: { type: Date, required: true },
    },
    schemaOptions,
  )
    .index({ owner_id: 1, _id: -1 })
    .index({ owner_id: 1, state: 1 }, { name: "running", partialFilterExpression: { state: "running" } })
    // The sweep finds those whose job is lost.
    .index({ state: 1, _id: 1 }, { name: "running_by_id", partialFilterExpression: { state: "running" } })
    // `headwater doctor` lists them.
    .index({ state: 1, _id: -1 }, { name: "failed_by_id", partialFilterExpression: { state: "failed" } })
    .index({ expires_at: 1 }, { expireAfterSeconds: 0 }),
);
