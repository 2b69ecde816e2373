import { Schema } from "mongoose";
import type { BodyFormat } from "../lib/body-formats.ts";
import { collection, schemaOptions } from "../store/connections/mongo.ts";
import { BY_LAST_TIMES, LAST_TIMES, type LastTimes } from "../store/last-times.ts";
import { REVISED, type Revised } from "../store/revisions.ts";
import type { PullState } from "./pulled-event.ts";

export interface SigningKey {
  /** `whsec_…`, or the `whsk_…` of an ed25519 key pair, encrypted. */
  sealed: string;
  /** The `whpk_…` of that pair; absent for `whsec_…`. */
  public_key?: string;
  /** Unix milliseconds after which it no longer signs; null for the current key. */
  expires_at_ms: number | null;
}

/** The retry of all failed deliveries since a moment, which a worker does in batches. */
export interface Recovery {
  id: string;
  /** Unix milliseconds. */
  since_ms: number;
  /** `stopped`: the webhook was disabled. `failed`: its job failed again and again. */
  state: "running" | "done" | "stopped" | "failed";
  /** Failed deliveries when it was requested. */
  count: number;
  /** Deliveries that are retried so far. */
  recovered: number;
  /** Deliveries before this id are done. */
  next_delivery_id: string;
  started_at_ms: number;
  finished_at_ms: number | null;
  /** How often its job was given up since the last batch; the sweep counts. */
  failures?: number;
}

/** What a destination hands events to, instead of an HTTP endpoint. */
export type DestinationKind = "redis_stream" | "rabbitmq" | "s3" | "action" | "pull";

/**
 * Returns true if a listener receives its events by deliveries: a webhook (`wh_`), a destination (`ds_`), an action (`ac_`), an
 * agent's subscription (`ms_`).
 */
export const receivesDeliveries = (listenerId: string): boolean => /^(wh|ds|ac|ms)_/.test(listenerId);

const LISTENER_KINDS = { wh: "webhook", ds: "destination", ac: "action", ms: "mcp_subscription" } as const;

/** Returns what kind of listener that receives its events by deliveries has this id. */
export const listenerKindOf = (id: string): (typeof LISTENER_KINDS)[keyof typeof LISTENER_KINDS] =>
  LISTENER_KINDS[id.slice(0, 2) as keyof typeof LISTENER_KINDS];

/** What an agent has subscribed to over the Model Context Protocol (docs/agents.md#events), besides where its events go. */
export interface McpTerms {
  /** The API key that subscribed or refreshed last: the subscription ends with its access. */
  key_id: string;
  /** The event type, such as `source.event`. */
  event_type: string;
  /** Canonical JSON of its arguments; a source is named by its id. */
  arguments: string;
  /** What its client calls itself, or else its key is called; absent if an earlier release stored it. */
  client_name?: string | null;
  /** Unix milliseconds after which nothing is sent, unless it is refreshed. */
  expires_at_ms: number;
  /** When its callback has last responded to a challenge; Unix milliseconds. */
  verified_at_ms: number;
}

/** A webhook, a destination or an agent's subscription: whatever events are delivered to (docs/decisions/0039-destinations.md). */
export interface Webhook extends Revised, LastTimes {
  /** `wh_…` of a webhook, `ds_…` of a destination, `ac_…` of an action, `ms_…` of an agent's subscription. */
  _id: string;
  /** Of a webhook's requests; absent for `json`. */
  format?: BodyFormat;
  /** Absent for a webhook. */
  kind?: DestinationKind | "mcp";
  /** Of an agent's subscription. */
  mcp?: McpTerms;
  /** JSON of the settings of a destination, encrypted; absent for a webhook. */
  settings?: string;
  /** Of a destination of kind `pull`; absent until it was sent something. */
  pull?: PullState;
  /** The component that an action runs. */
  component_id?: string;
  /** The connections that its props name. */
  connection_ids?: string[];
  owner_id: string;
  user_id: string;
  name: string | null;
  description: string | null;
  /** Where events go; of a destination without user name and password. */
  url: string;
  active: boolean;
  /** Why the platform disabled it; null if its owner did, or it is active. */
  disabled_reason: string | null;
  /** Unix milliseconds at which the platform did; means nothing without a reason, and is absent if an earlier release did. */
  disabled_at_ms?: number;
  /** Newest first; an older key signs too until it expires. */
  signing_keys: SigningKey[];
  /** JSON of the custom headers, encrypted; null for none. */
  headers: string | null;
  /** The names of the custom headers; their values are never shown. */
  header_names: string[];
  /** Unix milliseconds of the first failure since the last success; null while deliveries succeed. */
  failing_since_ms: number | null;
  /** The last alert of an episode of failures, which began at `since_ms`: 1 failing, 2 about to be disabled. */
  alerted?: { since_ms: number; stage: 1 | 2 } | null;
  /** Most deliveries in flight at once; null for the server's number (`CONCURRENCY`). */
  max_in_flight: number | null;
  /** Most attempts started in a second; null for no limit. */
  rate_limit_per_second: number | null;
  /** True if events are delivered one after another, in the order in which they were emitted. */
  ordered: boolean;
  /** Its own waits after failed attempts, as durations such as `5s`; null or absent for the installation's. */
  retry_schedule?: readonly string[] | null;
  /** How long one of its attempts may take; null or absent for the installation's time. */
  timeout_seconds?: number | null;
  /** The last one that was requested; absent if there was none. */
  recovery?: Recovery | null;
  created_at: number;
  updated_at: number;
}

/** A webhook that is none: events are handed to something else than an HTTP endpoint. */
export type Destination = Webhook & Required<Pick<Webhook, "settings">> & { kind: DestinationKind };

export const isDestination = (webhook: Webhook): webhook is Destination =>
  webhook.kind !== undefined && webhook.settings !== undefined;

/** What an agent subscribed: a webhook that is signed with the agent's secret, and ends by itself. */
export type McpListener = Webhook & Required<Pick<Webhook, "mcp">>;

export const isMcpListener = (webhook: Webhook): webhook is McpListener => webhook.mcp !== undefined;

/** The ids of agents' subscriptions, which lists of webhooks and of destinations leave out. */
export const MCP_IDS = { $gt: "ms_", $lt: "mt" } as const;
/** The ids of all others. */
export const NOT_MCP_IDS = { $not: MCP_IDS } as const;

/** The fields by whose text a list finds a webhook or a destination. */
export const WEBHOOK_TEXTS: (keyof Webhook & string)[] = ["_id", "name", "url"];

export const Webhooks = collection<Webhook>(
  "webhooks",
  new Schema<Webhook>(
    {
      _id: { type: String, required: true },
      kind: { type: String },
      format: { type: String },
      settings: { type: String },
      mcp: { type: Schema.Types.Mixed, default: undefined },
      pull: { type: Schema.Types.Mixed, default: undefined },
      component_id: { type: String },
      connection_ids: { type: [String], default: undefined },
      owner_id: { type: String, required: true },
      user_id: { type: String, required: true },
      name: { type: String, default: null },
      description: { type: String, default: null },
      url: { type: String, required: true },
      active: { type: Boolean, required: true },
      disabled_reason: { type: String, default: null },
      disabled_at_ms: { type: Number, default: undefined },
      signing_keys: {
        type: [
          new Schema<SigningKey>(
            {
              sealed: { type: String, required: true },
              public_key: { type: String },
              expires_at_ms: { type: Number, default: null },
            },
            { _id: false },
          ),
        ],
        required: true,
      },
      headers: { type: String, default: null },
      header_names: { type: [String], required: true },
      failing_since_ms: { type: Number, default: null },
      alerted: { type: Schema.Types.Mixed, default: null },
      max_in_flight: { type: Number, default: null },
      rate_limit_per_second: { type: Number, default: null },
      ordered: { type: Boolean, default: false },
      retry_schedule: { type: Schema.Types.Mixed, default: null },
      timeout_seconds: { type: Number, default: null },
      recovery: { type: Schema.Types.Mixed, default: null },
      created_at: { type: Number, required: true },
      updated_at: { type: Number, required: true },
      ...LAST_TIMES,
      ...REVISED,
    },
    schemaOptions,
  )
    .index({ owner_id: 1, _id: -1 })
    .index(BY_LAST_TIMES.last_event_ms)
    .index(BY_LAST_TIMES.last_success_ms)
    .index(BY_LAST_TIMES.last_error_ms)
    // Listed by their state.
    .index({ owner_id: 1, active: 1, _id: -1 })
    .index(
      { owner_id: 1, _id: -1 },
      {
        name: "failing_of_account",
        partialFilterExpression: { active: true, failing_since_ms: { $gt: 0 } },
      },
    )
    // Looked for when a component is deleted.
    .index({ component_id: 1 }, { name: "component", partialFilterExpression: { component_id: { $gt: "" } } })
    // Looked for with every account that emits.
    .index({ owner_id: 1 }, { name: "ordered", partialFilterExpression: { ordered: true } })
    // The sweep finds recoveries whose job is lost.
    .index(
      { "recovery.state": 1, _id: 1 },
      { name: "recovering", partialFilterExpression: { "recovery.state": "running" } },
    )
    // Counted for the metrics.
    .index(
      { failing_since_ms: 1 },
      { name: "failing", partialFilterExpression: { active: true, failing_since_ms: { $gt: 0 } } },
    )
    .index(
      { disabled_reason: 1 },
      { name: "disabled", partialFilterExpression: { disabled_reason: { $gt: "" } } },
    )
    // What needs somebody of an account, the newest first.
    .index(
      { owner_id: 1, failing_since_ms: -1 },
      { name: "failing_of_owner", partialFilterExpression: { active: true, failing_since_ms: { $gt: 0 } } },
    )
    .index(
      { owner_id: 1, disabled_at_ms: -1 },
      { name: "disabled_of_owner", partialFilterExpression: { disabled_reason: { $gt: "" } } },
    ),
);
