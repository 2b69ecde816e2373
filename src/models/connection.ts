import { Schema } from "mongoose";
import { collection, schemaOptions } from "../store/connections/mongo.ts";
import { REVISED, type Revised } from "../store/revisions.ts";

/** `keys`: its fields were typed in. `oauth2`: its tokens come from the app, and are renewed. */
export type ConnectionKind = "keys" | "oauth2";

/**
 * `working`: runs have what they need. `failing`: the token has ended and can't be renewed at the moment, which is tried
 * again. `broken`: only its owner can make it work again (docs/states.md#connection).
 */
export type ConnectionHealth = "working" | "failing" | "broken";

/** Why a renewal failed. Without anything that the app sent, but its error code. */
export interface ConnectionFault {
  /** The code of the app, such as `invalid_grant`, or one of ours. */
  code: string;
  message: string;
  /** Unix milliseconds. */
  at_ms: number;
}

/** Code failed with HTTP 401, so that a token is renewed before its end (docs/connections.md#renewal). */
export interface Rejection {
  /** The connection's `version` of that time: as long as it is the present one, its token counts as ended. 0: it can't be renewed. */
  version: number;
  /** What failed: id of a source or an action, or which code was asked. */
  by: string;
  /** Unix milliseconds. */
  at_ms: number;
  /** How many tokens were rejected one after the other. */
  times: number;
}

/** An account of an app that runs may use: its credentials, and whether they work (docs/connections.md). */
export interface Connection extends Revised {
  _id: string;
  owner_id: string;
  user_id: string;
  /** The app's slug, as `app` props name it. */
  app: string;
  kind: ConnectionKind;
  name: string;
  /** JSON of `ConnectionSecrets`, encrypted. */
  secrets: string;
  /** The names of the fields that runs find in `$auth`; their values are never shown. */
  field_names: string[];
  /** Of `oauth2`: what was granted, if the app said so. */
  scope: string | null;
  /** Of `oauth2`, Unix milliseconds: when the access token ends; null if it doesn't, or of `keys`. */
  expires_at_ms: number | null;
  /** Unix milliseconds from which the token is renewed before a run; null: never. */
  renew_from_ms: number | null;
  health: ConnectionHealth;
  /** Why the last renewal failed; null after one that succeeded. */
  fault: ConnectionFault | null;
  /** Unix milliseconds of the last renewal that succeeded. */
  renewed_at_ms: number | null;
  /** Unix milliseconds at which a renewal began that is not known to have ended. */
  renewal_began_at_ms: number | null;
  /** Unix milliseconds before which no further renewal is tried, after one that failed. */
  retry_at_ms: number | null;
  /** The last time that its app rejected a token which had not ended; null or absent if not lately. */
  rejection?: Rejection | null;
  /** Grows whenever its secrets are replaced: what a slower process received for earlier ones is not stored. */
  version: number;
  /** The last part of the URL at which its app's events arrive; absent before a source first listened to them. */
  endpoint?: string;
  /** The last part of the URL before, which goes on working for a while; absent if there was none. */
  old_endpoint?: { name: string; until_ms: number };
  /** How its events are named, in place of what the app's operator said; null or absent for that. */
  events?: AppEventRules | null;
  /**
   * JSON of the `VerifySettings` that its owner has said for its endpoint, encrypted; null or absent for nothing beside what the app's
   * operator says.
   */
  verify?: string | null;
  /**
   * Hosts and ports beside public addresses that code with this connection may reach, as an operator said, each as
   * `showPrivateAddress` returns it; absent for none.
   */
  private_addresses?: string[];
  /** Unix milliseconds at which a source was last given it. */
  used_at_ms?: number;
  created_at: number;
  updated_at: number;
}

/** What a connection keeps secret. */
export interface ConnectionSecrets {
  /** What runs find in `$auth`; of `oauth2` besides `oauth_access_token`. */
  fields: Record<string, string>;
  accessToken?: string;
  refreshToken?: string;
}

export const Connections = collection<Connection>(
  "connections",
  new Schema<Connection>(
    {
      _id: { type: String, required: true },
      owner_id: { type: String, required: true },
      user_id: { type: String, required: true },
      app: { type: String, required: true },
      kind: { type: String, required: true, enum: ["keys", "oauth2"] },
      name: { type: String, required: true },
      secrets: { type: String, required: true },
      field_names: { type: [String], required: true },
      scope: { type: String, default: null },
      expires_at_ms: { type: Number, default: null },
      renew_from_ms: { type: Number, default: null },
      health: { type: String, required: true, enum: ["working", "failing", "broken"] },
      fault: { type: Schema.Types.Mixed, default: null },
      renewed_at_ms: { type: Number, default: null },
      renewal_began_at_ms: { type: Number, default: null },
      retry_at_ms: { type: Number, default: null },
      rejection: { type: Schema.Types.Mixed, default: undefined },
      version: { type: Number, required: true },
      endpoint: { type: String, default: undefined },
      old_endpoint: { type: Schema.Types.Mixed, default: undefined },
      events: { type: Schema.Types.Mixed, default: undefined },
      verify: { type: String, default: undefined },
      private_addresses: { type: [String], default: undefined },
      used_at_ms: { type: Number, default: undefined },
      created_at: { type: Number, required: true },
      updated_at: { type: Number, required: true },
      ...REVISED,
    },
    schemaOptions,
  )
    .index({ owner_id: 1, _id: -1 })
    // Those that need somebody.
    .index({ owner_id: 1, health: 1, _id: -1 }),
);

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
  /** JSON of the `VerifySettings` of the endpoints of its connections, encrypted; null or absent if anybody may send. */
  verify?: string | null;
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
      verify: { type: String, default: undefined },
      created_at: { type: Number, required: true },
      updated_at: { type: Number, required: true },
    },
    schemaOptions,
  ),
);
