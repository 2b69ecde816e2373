import { Schema } from "mongoose";
import { collection, schemaOptions } from "../store/connections/mongo.ts";
import { BY_LAST_TIMES, LAST_TIMES, type LastTimes } from "../store/last-times.ts";
import { REVISED, type Revised } from "../store/revisions.ts";

/** When a timer source runs: either an interval or a cron pattern. */
export interface StoredTimer {
  interval_seconds: number | null;
  cron: string | null;
  timezone: string | null;
}

/**
 * `deploying`: its hooks have not succeeded yet, so it is invisible. `ready`: it exists. `deleting`: its owner no longer sees
 * it; its deactivate hook and the deletion of its data are still to come (docs/states.md#source).
 */
export type SourceState = "deploying" | "ready" | "deleting";

/** A change whose hooks have been called and which is neither committed nor undone yet, or a source that was switched off. */
export interface BegunChange {
  run_id: string;
  /**
   * `activating`: the new version may be active; `deactivating`: only the old one was touched; `switched-off`: the source is stored as
   * inactive, and its deactivate hook is still to be called.
   */
  stage: "deactivating" | "activating" | "switched-off";
  /** Unix milliseconds. */
  at_ms: number;
  /** The endpoint that the new version has instead of the stored one, if it has another. */
  endpoint?: string;
}

/** Runs of a source that failed one after another. */
export interface FailingRuns {
  /** Unix milliseconds of the first of them. */
  since_ms: number;
  runs: number;
  alerted: boolean;
  /** The code of the last error that was counted; absent in what an earlier release counted. */
  code?: string;
}

/** The events of an app that run a source (docs/connections.md#events-of-an-app). */
export interface AppEvents {
  /** At whose endpoint they arrive. */
  connection_id: string;
  /** The last part of that endpoint's URL, which never changes. */
  endpoint: string;
  /** Null for all. */
  names: string[] | null;
}

export interface Source extends Revised, LastTimes {
  _id: string;
  owner_id: string;
  user_id: string;
  component_id: string;
  component_url: string | null;
  name: string;
  name_slug: string;
  /** JSON of the stored prop values, encrypted, because they may be secrets. */
  configured_props: string;
  /** The connections that they name; absent for a source that was last changed before there were any. */
  connection_ids?: string[];
  /** JSON of the props that `additionalProps` made for it (`DynamicProps`), encrypted; null if there are none. */
  dynamic_props?: string | null;
  /** The last part of the endpoint's URL, for sources with an HTTP interface. */
  endpoint: string | null;
  /** JSON of how its requests are verified (`StoredVerify`), encrypted; null or absent for any sender. */
  verify?: string | null;
  /** For sources with an apphook; null or absent otherwise. */
  app_events?: AppEvents | null;
  timer: StoredTimer | null;
  active: boolean;
  state: SourceState;
  /** Unix seconds at which a source in the state `deleting` was deactivated; absent before. */
  deactivated_at?: number;
  /** The last change that was committed; a change that was prepared for an earlier one is superseded. */
  change_id: string | null;
  begun?: BegunChange | undefined;
  /** Its runs that failed one after another, counted until an alert was raised; null or absent while they succeed. */
  failing?: FailingRuns | null;
  created_at: number;
  updated_at: number;
}

/** Name of the index of sources with a timer. */
export const TICKING = "ticking";
/** Name of the index of sources with a timer by their last change. */
export const TIMERS_CHANGED = "timers_changed";
export const BEGUN = "begun";

/** The fields by whose text a list finds a source. */
export const SOURCE_TEXTS: (keyof Source & string)[] = ["_id", "name", "name_slug"];

export const Sources = collection<Source>(
  "sources",
  new Schema<Source>(
    {
      _id: { type: String, required: true },
      owner_id: { type: String, required: true },
      user_id: { type: String, required: true },
      component_id: { type: String, required: true, index: true },
      component_url: { type: String, default: null },
      name: { type: String, required: true },
      name_slug: { type: String, required: true },
      configured_props: { type: String, required: true },
      connection_ids: { type: [String], default: undefined },
      dynamic_props: { type: String, default: null },
      endpoint: { type: String, default: null },
      verify: { type: String, default: null },
      app_events: { type: Schema.Types.Mixed, default: undefined },
      timer: { type: Schema.Types.Mixed, default: null },
      active: { type: Boolean, required: true },
      state: { type: String, required: true, enum: ["deploying", "ready", "deleting"] },
      deactivated_at: { type: Number, default: undefined },
      change_id: { type: String, default: null },
      begun: { type: Schema.Types.Mixed, default: undefined },
      failing: { type: Schema.Types.Mixed, default: null },
      created_at: { type: Number, required: true },
      updated_at: { type: Number, required: true },
      ...LAST_TIMES,
      ...REVISED,
    },
    schemaOptions,
  )
    .index({ owner_id: 1, state: 1, _id: -1 })
    .index(BY_LAST_TIMES.last_event_ms)
    .index(BY_LAST_TIMES.last_success_ms)
    .index(BY_LAST_TIMES.last_error_ms)
    .index({ owner_id: 1, state: 1, active: 1, _id: -1 })
    .index({ owner_id: 1, name_slug: 1 }, { unique: true })
    // Not `$type: "string"`, because MongoDB uses such an index only for queries that repeat the `$type`.
    .index(
      { endpoint: 1 },
      { name: "endpoint", unique: true, partialFilterExpression: { endpoint: { $gt: "" } } },
    )
    // A connection that is used can't be deleted by accident.
    .index(
      { connection_ids: 1 },
      { name: "connection_ids", partialFilterExpression: { connection_ids: { $gt: "" } } },
    )
    // The reconciler reads exactly the timers that must tick, and the sources between two states.
    .index({ state: 1, _id: 1 })
    .index(
      { "begun.run_id": 1 },
      { name: BEGUN, partialFilterExpression: { "begun.run_id": { $type: "string" } } },
    )
    .index(
      { updated_at: -1 },
      { name: TIMERS_CHANGED, partialFilterExpression: { timer: { $type: "object" } } },
    )
    // What needs somebody of an account, the newest first.
    .index(
      { owner_id: 1, "failing.since_ms": -1 },
      { name: "failing_of_owner", partialFilterExpression: { "failing.alerted": true } },
    )
    .index(
      { active: 1, state: 1, _id: 1 },
      { name: TICKING, partialFilterExpression: { timer: { $type: "object" } } },
    ),
);

/** What a source's runs remember, read before a run and written after it (docs/design.md#guarantee-4); of an action, its db. */
export interface SourceMemory {
  /** The id of the source, or of the action. */
  _id: string;
  /** JSON of `$.service.db`; its keys are the user's own, so they must not become MongoDB field names. */
  db: string;
  /** JSON of what dedupe remembers. */
  dedupe: string;
  /** Increases with each write; a run that lost its lease finds another number and writes nothing. */
  version: number;
}

export const SourceMemories = collection<SourceMemory>(
  "source_memories",
  new Schema<SourceMemory>(
    {
      _id: { type: String, required: true },
      db: { type: String, required: true },
      dedupe: { type: String, required: true },
      version: { type: Number, required: true },
    },
    schemaOptions,
  ),
);
