import { createHash } from "node:crypto";
import { Schema } from "mongoose";
import { collection, schemaOptions } from "../store/mongo.ts";

/** Who an OpenID provider calls a user of ours (docs/decisions/0028-openid-connect.md). */
export interface Identity {
  /** Hash of issuer and subject, which are unique together and never given to somebody else. */
  _id: string;
  issuer: string;
  subject: string;
  user_id: string;
  /** Unix seconds. */
  created_at: number;
}

/** Returns the id of an identity. */
export const identityId = (issuer: string, subject: string): string =>
  createHash("sha256")
    .update(JSON.stringify([issuer, subject]))
    .digest("hex");

export const Identities = collection<Identity>(
  "identities",
  new Schema<Identity>(
    {
      _id: { type: String, required: true },
      issuer: { type: String, required: true },
      subject: { type: String, required: true },
      user_id: { type: String, required: true },
      created_at: { type: Number, required: true },
    },
    schemaOptions,
  ).index({ user_id: 1, issuer: 1 }, { unique: true }),
);
