import { createHash } from "node:crypto";
import { type Connection, Schema } from "mongoose";
import type { KeyAccess, KeyKind } from "../lib/key-access.ts";
import { collection, schemaOptions } from "../store/connections/mongo.ts";

export interface User {
  _id: string;
  email: string;
  username: string;
  plan: "free" | "paid";
  /** How alerts are mailed; absent for the default. */
  alert_mail?: AlertMail;
  /** True for one who may make users and organizations for others. */
  operator?: true;
  created_at: number;
}

/** `each`: a mail for each alert. `digest`: one mail an hour at most. */
export type AlertMail = "each" | "digest" | "off";

export const Users = collection<User>(
  "users",
  new Schema<User>(
    {
      _id: { type: String, required: true },
      email: { type: String, required: true, unique: true },
      username: { type: String, required: true, unique: true },
      plan: { type: String, required: true, enum: ["free", "paid"] },
      alert_mail: { type: String, default: undefined, enum: ["each", "digest", "off"] },
      operator: { type: Boolean, default: undefined },
      created_at: { type: Number, required: true },
    },
    schemaOptions,
  ),
);

/** Returns the names of these users by their ids; of those that are gone, none. */
export async function usernamesOf(
  mongo: Connection,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const users = await Users(mongo)
    .find({ _id: { $in: ids } }, { username: 1 })
    .lean();
  return new Map(users.map(({ _id, username }) => [_id, username]));
}

/** A program through which an agent uses a key. */
export interface McpClient {
  /** As it calls itself; absent while none has. */
  name?: string;
  version?: string | null;
  /** Unix seconds; up to a minute old. */
  used_at: number;
}

export interface ApiKey {
  _id: string;
  user_id: string;
  /** SHA-256, in hex, behind a prefix if the key is limited or of another kind. It has enough entropy for a fast hash to be safe. */
  hash: string;
  /** Absent for a key that programs send. */
  kind?: Exclude<KeyKind, "key">;
  /** How the key begins, for people who look for it; absent for keys of earlier versions. */
  prefix?: string;
  /** What its user calls it. */
  name?: string | null;
  /** The session or the key that it was made with; absent if the operator made it, or an earlier release. */
  made_with?: string;
  /** True if only an OpenID provider's word led to it: made in a session that began with the provider, or with such a key. */
  ends_with_provider?: true;
  /** Absent for a key that may do everything that its user may. */
  access?: Exclude<KeyAccess, "full">;
  /** The emitters to which it may publish, with the access `publish`; absent for all. */
  emitter_ids?: string[];
  /** Unix seconds; absent for a key that does not end by itself. */
  expires_at?: number;
  created_at: number;
  /** Unix seconds; up to a minute old, absent if it was never used. */
  last_used_at?: number;
  /** The client of the Model Context Protocol that used it last; absent if none did. */
  mcp_client?: McpClient;
  revoked_at: number | null;
}

export const ApiKeys = collection<ApiKey>(
  "api_keys",
  new Schema<ApiKey>(
    {
      _id: { type: String, required: true },
      user_id: { type: String, required: true },
      hash: { type: String, required: true, unique: true },
      kind: { type: String, default: undefined, enum: ["connector_url", "oauth"] },
      prefix: String,
      name: { type: String, default: null },
      made_with: { type: String, default: undefined },
      ends_with_provider: { type: Boolean, default: undefined },
      access: { type: String, default: undefined, enum: ["read", "publish"] },
      emitter_ids: { type: [String], default: undefined },
      expires_at: { type: Number, default: undefined },
      created_at: { type: Number, required: true },
      last_used_at: Number,
      mcp_client: { type: Schema.Types.Mixed, default: undefined },
      revoked_at: { type: Number, default: null },
    },
    schemaOptions,
  ).index({ user_id: 1, _id: -1 }),
);

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
