import { Schema } from "mongoose";
import { collection, schemaOptions } from "../store/connections/mongo.ts";

/** Who did it: somebody with an API key or a session, the operator by the command line, or Headwater by itself. */
type ActorKind = "api_key" | "session" | "operator" | "headwater";

export interface AuditActor {
  kind: ActorKind;
  /** Null for the operator and Headwater. */
  user_id: string | null;
  /** Of the API key or the session. */
  id: string | null;
  /** What its user calls the API key, and how it begins: the key may be gone when the entry is read. */
  name: string | null;
  prefix: string | null;
  /** What the session began with; null without one. */
  signed_in_with: "api_key" | "openid" | null;
}

/** One change of what an account owns, for those who ask later who made it (docs/rest-api.md#audit-log). */
export interface AuditEntry {
  _id: string;
  /** An account, or `installation` for what operators did. */
  owner_id: string;
  at_ms: number;
  /** `webhook.updated`: the kind of thing, and what happened to it. */
  action: string;
  actor: AuditActor;
  /** What finds the actor: the ids of its user and of its key or session, otherwise its kind. */
  actor_ids: string[];
  /** As it was called then. */
  thing: { id: string; name: string | null } | null;
  /** Names, never values. */
  fields: string[];
  /** `accepted`: a worker went on with it. */
  outcome: "done" | "accepted";
  /** Why Headwater did it; null for what somebody did. */
  reason: string | null;
  /** The client's, null for the operator and Headwater. */
  address: string | null;
  user_agent: string | null;
  expires_at: Date;
}

export const AuditEntries = collection<AuditEntry>(
  "audit_entries",
  new Schema<AuditEntry>(
    {
      _id: { type: String, required: true },
      owner_id: { type: String, required: true },
      at_ms: { type: Number, required: true },
      action: { type: String, required: true },
      actor: { type: Schema.Types.Mixed, required: true },
      actor_ids: { type: [String], required: true },
      thing: { type: Schema.Types.Mixed, default: null },
      fields: { type: [String], required: true },
      outcome: { type: String, required: true, enum: ["done", "accepted"] },
      reason: { type: String, default: null },
      address: { type: String, default: null },
      user_agent: { type: String, default: null },
      expires_at: { type: Date, required: true },
    },
    schemaOptions,
  )
    .index({ owner_id: 1, _id: -1 })
    .index({ owner_id: 1, action: 1, _id: -1 })
    .index({ owner_id: 1, actor_ids: 1, _id: -1 })
    .index({ owner_id: 1, "thing.id": 1, _id: -1 })
    .index({ expires_at: 1 }, { expireAfterSeconds: 0 }),
);
