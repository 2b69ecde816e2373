import { Schema } from "mongoose";
import { collection, schemaOptions } from "../store/mongo.ts";

/** How an app's token endpoint learns that it is us: HTTP Basic, fields of the form, or PKCE alone. */
const TOKEN_AUTHS = ["basic", "post", "none"] as const;
export type TokenAuth = (typeof TOKEN_AUTHS)[number];

/** An app that the operator has registered with its OAuth server, so that accounts can connect theirs. */
export interface App {
  /** The slug by which `app` props name it. */
  _id: string;
  /** As people know it. */
  name: string;
  authorize_url: string;
  token_url: string;
  /** The `iss` with which its authorization server returns; null: not compared. */
  issuer: string | null;
  client_id: string;
  /** Encrypted; null for a public client. */
  client_secret: string | null;
  token_auth: TokenAuth;
  /** Separated by blanks; empty for the app's default. */
  scopes: string;
  /** Further parameters of the authorize URL, such as `access_type=offline`. */
  authorize_params: [name: string, value: string][];
  /** Unix seconds. */
  created_at: number;
  updated_at: number;
}

export const Apps = collection<App>(
  "apps",
  new Schema<App>(
    {
      _id: { type: String, required: true },
      name: { type: String, required: true },
      authorize_url: { type: String, required: true },
      token_url: { type: String, required: true },
      issuer: { type: String, default: null },
      client_id: { type: String, required: true },
      client_secret: { type: String, default: null },
      token_auth: { type: String, required: true, enum: TOKEN_AUTHS },
      scopes: { type: String, default: "" },
      authorize_params: { type: [[String]], required: true },
      created_at: { type: Number, required: true },
      updated_at: { type: Number, required: true },
    },
    schemaOptions,
  ),
);
