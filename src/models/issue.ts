import { Schema } from "mongoose";
import { collection, schemaOptions } from "../store/connections/mongo.ts";

/** `acknowledged`: somebody knows of it, and it stays so while it goes on. `resolved`: a further failure opens it again. */
export const ISSUE_STATES = ["open", "acknowledged", "resolved"] as const;
export type IssueState = (typeof ISSUE_STATES)[number];
/** The states of an issue that nothing has ended yet. */
export const UNRESOLVED = ["open", "acknowledged"] as const satisfies IssueState[];

/** In place of the user who resolved an issue: nothing of its cause was seen for a while. */
export const BY_QUIET = "quiet";

/** The failed attempts of one listener with one cause, counted as they happen (docs/states.md#issue). */
export interface Issue {
  /** Derived from listener and cause, so that every process counts into the same one. */
  _id: string;
  /** The account of the listener. */
  owner_id: string;
  /** A webhook or a destination. */
  listener_id: string;
  /** `status:503`, `timeout`, `action:TypeError`, … */
  cause: string;
  state: IssueState;
  /** Unix milliseconds. */
  first_seen_ms: number;
  last_seen_ms: number;
  /** When its present episode began. */
  opened_at_ms: number;
  /** How often a failure opened it again. */
  reopened: number;
  /** Failed attempts, of all episodes. */
  count: number;
  /** Deliveries of which such an attempt was the last, of all episodes and of the present one. */
  failed_deliveries: number;
  failed_since_opened: number;
  /** Of the last failed attempt. */
  last_error: string;
  last_status: number | null;
  last_delivery_id: string;
  /** Null unless it was, in the present episode. */
  acknowledged_at_ms: number | null;
  /** A user. */
  acknowledged_by: string | null;
  resolved_at_ms: number | null;
  /** A user, or `BY_QUIET`. */
  resolved_by: string | null;
  expires_at: Date;
}

export const Issues = collection<Issue>(
  "issues",
  new Schema<Issue>(
    {
      _id: { type: String, required: true },
      owner_id: { type: String, required: true },
      listener_id: { type: String, required: true },
      cause: { type: String, required: true },
      state: { type: String, required: true, enum: ISSUE_STATES },
      first_seen_ms: { type: Number, required: true },
      last_seen_ms: { type: Number, required: true },
      opened_at_ms: { type: Number, required: true },
      reopened: { type: Number, required: true },
      count: { type: Number, required: true },
      failed_deliveries: { type: Number, required: true },
      failed_since_opened: { type: Number, required: true },
      last_error: { type: String, required: true },
      last_status: { type: Number, default: null },
      last_delivery_id: { type: String, required: true },
      acknowledged_at_ms: { type: Number, default: null },
      acknowledged_by: { type: String, default: null },
      resolved_at_ms: { type: Number, default: null },
      resolved_by: { type: String, default: null },
      expires_at: { type: Date, required: true },
    },
    schemaOptions,
  )
    .index({ owner_id: 1, _id: -1 })
    .index({ owner_id: 1, state: 1, _id: -1 })
    // What needs somebody, the last seen first.
    .index({ owner_id: 1, state: 1, last_seen_ms: -1 })
    // The causes that a listener has, of which there are only so many.
    .index({ listener_id: 1, _id: -1 })
    // The sweep finds those that have been quiet.
    .index({ state: 1, last_seen_ms: 1 })
    .index({ expires_at: 1 }, { expireAfterSeconds: 0 }),
);
