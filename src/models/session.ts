import { Schema } from "mongoose";
import { collection, schemaOptions } from "../store/connections/mongo.ts";

/** A browser that is signed in as a user (docs/decisions/0024-sessions.md). */
export interface Session {
  _id: string;
  /** SHA-256 of the token, which only the browser has; 256 random bits need no slow hash. */
  hash: string;
  user_id: string;
  /** The API key that it was started with, whose revocation ends it; null if an OpenID provider vouched for the user. */
  key_id: string | null;
  /** When that key expires, in Unix seconds; absent if it does not. */
  key_expires_at?: number;
  /** What the browser called itself when it signed in. */
  user_agent: string;
  /** Unix seconds. */
  created_at: number;
  /** Unix seconds; up to a minute old. */
  last_used_at: number;
  /** When it ends if it is not used again. */
  expires_at: Date;
}

export const Sessions = collection<Session>(
  "sessions",
  new Schema<Session>(
    {
      _id: { type: String, required: true },
      hash: { type: String, required: true, unique: true },
      user_id: { type: String, required: true },
      key_id: { type: String, default: null },
      key_expires_at: { type: Number, default: undefined },
      user_agent: { type: String, default: "" },
      created_at: { type: Number, required: true },
      last_used_at: { type: Number, required: true },
      expires_at: { type: Date, required: true },
    },
    schemaOptions,
  )
    .index({ user_id: 1, _id: -1 })
    .index({ key_id: 1 })
    .index({ expires_at: 1 }, { expireAfterSeconds: 0 }),
);

/** A link that signs in once. */
export interface SignInLink {
  /** SHA-256 of its token. */
  _id: string;
  user_id: string;
  /** The API key that it was made with. */
  key_id: string;
  expires_at: Date;
}

export const SignInLinks = collection<SignInLink>(
  "sign_in_links",
  new Schema<SignInLink>(
    {
      _id: { type: String, required: true },
      user_id: { type: String, required: true },
      key_id: { type: String, required: true },
      expires_at: { type: Date, required: true },
    },
    schemaOptions,
  )
    .index({ user_id: 1 })
    .index({ expires_at: 1 }, { expireAfterSeconds: 0 }),
);
