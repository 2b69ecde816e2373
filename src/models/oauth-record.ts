import { createHash } from "node:crypto";
import { Schema } from "mongoose";
import { collection, schemaOptions } from "../store/connections/mongo.ts";

/** What the authorization server for agents' hosts keeps between requests: clients, requests, codes, grants and tokens. */
export interface OAuthRecord {
  /** The kind and a hash of the secret or the id: what is stolen from the store opens nothing. */
  _id: string;
  /** The API key that the user's consent made; absent for what comes before a consent. */
  key_id?: string;
  user_id?: string;
  /** What the library keeps of it, as JSON, without its id. */
  payload: string;
  /** When a code or a refresh token was used, in Unix milliseconds. */
  used_at_ms?: number;
  /** When an address registered a client that no user has let in yet, in Unix milliseconds. */
  unused_since_ms?: number;
  expires_at: Date;
}

export type OAuthKind =
  | "AccessToken"
  | "AuthorizationCode"
  | "Client"
  | "Grant"
  | "Interaction"
  | "RefreshToken";

/** Returns the id under which something of this kind is stored. */
export const oauthRecordId = (kind: OAuthKind, id: string): string =>
  `${kind}:${createHash("sha256").update(id).digest("hex")}`;

export const OAuthRecords = collection<OAuthRecord>(
  "oauth_records",
  new Schema<OAuthRecord>(
    {
      _id: { type: String, required: true },
      key_id: { type: String, default: undefined },
      user_id: { type: String, default: undefined },
      payload: { type: String, required: true },
      used_at_ms: { type: Number, default: undefined },
      unused_since_ms: { type: Number, default: undefined },
      expires_at: { type: Date, required: true },
    },
    schemaOptions,
  )
    .index({ key_id: 1 }, { partialFilterExpression: { key_id: { $gt: "" } } })
    .index({ unused_since_ms: 1 }, { partialFilterExpression: { unused_since_ms: { $gt: 0 } } })
    .index({ expires_at: 1 }, { expireAfterSeconds: 0 }),
);
