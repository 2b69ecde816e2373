import { Schema } from "mongoose";
import { collection, schemaOptions } from "../store/mongo.ts";

/** How an app's token endpoint learns that it is us: HTTP Basic, fields of the form, or PKCE alone. */
const TOKEN_AUTHS = ["basic", "post", "none"] as const;
export type TokenAuth = (typeof TOKEN_AUTHS)[number];

/**
 * How the requests are read that an app sends about events (docs/connections.md#events-of-an-app). Each text is a template,
 * such as `{{headers.x-event}}` or `{{body.event}}`.
 */
export interface AppEventRules {
  /** What an event is called; it may have several names. Those whose values a request lacks are none of it. */
  names?: string[];
  /** What sources receive as event; `{{body}}` if absent. */
  event?: string;
  /** What a request has with which the app checks that the endpoint is ours; it is sent back, and nothing runs. */
  challenge?: string;
}

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
  /** How its events are named; null or absent if the operator has not said it. */
  events?: AppEventRules | null;
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
      events: { type: Schema.Types.Mixed, default: null },
      created_at: { type: Number, required: true },
      updated_at: { type: Number, required: true },
    },
    schemaOptions,
  ),
);
