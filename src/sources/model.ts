import { Schema } from "mongoose";
import { collection, schemaOptions } from "../store/mongo.ts";

/** When a timer source runs: one of the two. */
export interface StoredTimer {
  interval_seconds: number | null;
  cron: string | null;
  timezone: string | null;
}

/**
 * `deploying`: its hooks have not yet said yes, so nobody sees it. `ready`: it exists. `deleting`: gone for its owner;
 * its deactivate hook and the cleaning are still to come.
 */
export type SourceState = "deploying" | "ready" | "deleting";

export interface Source {
  _id: string;
  owner_id: string;
  user_id: string;
  component_id: string;
  component_url: string | null;
  name: string;
  name_slug: string;
  /** JSON of the stored prop values, sealed: it may hold secrets. */
  configured_props: string;
  /** Last part of the endpoint's address, for sources with an HTTP interface. */
  endpoint: string | null;
  timer: StoredTimer | null;
  active: boolean;
  state: SourceState;
  /** The last change that was committed: one that was prepared for an earlier state finds another and is void. */
  change_id: string | null;
  created_at: number;
  updated_at: number;
}

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
      endpoint: { type: String, default: null },
      timer: { type: Schema.Types.Mixed, default: null },
      active: { type: Boolean, required: true },
      state: { type: String, required: true, enum: ["deploying", "ready", "deleting"] },
      change_id: { type: String, default: null },
      created_at: { type: Number, required: true },
      updated_at: { type: Number, required: true },
    },
    schemaOptions,
  )
    .index({ owner_id: 1, state: 1, _id: -1 })
    .index({ owner_id: 1, name_slug: 1 }, { unique: true })
    // Not `$type: "string"`: MongoDB uses such an index only for queries that repeat the `$type`.
    .index(
      { endpoint: 1 },
      { name: "endpoint", unique: true, partialFilterExpression: { endpoint: { $gt: "" } } },
    )
    // The reconciler reads exactly the timers that must tick, and the sources that are between two states.
    .index({ state: 1, _id: 1 })
    .index({ active: 1, state: 1 }, { partialFilterExpression: { timer: { $type: "object" } } }),
);

/** What a source's runs remember; read before a run and written after it (design.md, guarantee 4). */
export interface SourceMemory {
  /** The source's id. */
  _id: string;
  /** JSON of `$.service.db`: its keys are the user's, so they stay out of MongoDB's own. */
  db: string;
  /** JSON of what dedupe remembers. */
  dedupe: string;
  /** Grows with each write; a run that lost its lease meanwhile finds another number and writes nothing. */
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

/** One finished run: its outcome, and until they are on their queue, its emissions or those of its whole batch. */
export interface RunRecord {
  _id: string;
  source_id: string;
  owner_id: string;
  /** What caused it: `http`, `timer`, `event`, or the change whose hooks ran; `part` is a further part of an outbox. */
  kind: string;
  /** `ok`, or the code of its error. */
  outcome: string;
  /** Why it failed; absent for a good run. */
  error?: { code: string; message: string };
  /** Unix milliseconds; absent where it was not executed. */
  started_at_ms?: number;
  duration_ms: number;
  /** Processor time of the sandbox; 0 where the system does not tell. */
  cpu_ms?: number;
  /** Memory of the sandbox's process at the run's end; 0 where the system does not tell. */
  memory_bytes?: number;
  emitted: number;
  /** Events dropped on purpose, reason to count (design.md, guarantee 8). */
  dropped: Record<string, number>;
  /** JSON of the emission jobs still to be enqueued; absent once they are. Many parts where a run emitted much. */
  outbox?: string[];
  finished_at: Date;
}

const RUN_KEPT_SECONDS = 7 * 86_400;

export const RunRecords = collection<RunRecord>(
  "runs",
  new Schema<RunRecord>(
    {
      _id: { type: String, required: true },
      source_id: { type: String, required: true },
      owner_id: { type: String, required: true },
      kind: { type: String, required: true },
      outcome: { type: String, required: true },
      error: { type: Schema.Types.Mixed, default: undefined },
      started_at_ms: { type: Number, default: undefined },
      duration_ms: { type: Number, required: true },
      cpu_ms: { type: Number, default: undefined },
      memory_bytes: { type: Number, default: undefined },
      emitted: { type: Number, required: true },
      dropped: { type: Schema.Types.Mixed, required: true },
      outbox: { type: [String], default: undefined },
      finished_at: { type: Date, required: true },
    },
    schemaOptions,
  )
    .index({ finished_at: 1 }, { expireAfterSeconds: RUN_KEPT_SECONDS })
    .index({ source_id: 1, _id: -1 })
    // Of the failed ones alone, so that a good run does not pay for it.
    .index(
      { source_id: 1, _id: -1 },
      { partialFilterExpression: { error: { $exists: true } }, name: "failed" },
    )
    .index(
      { "outbox.0": 1, finished_at: 1 },
      { partialFilterExpression: { "outbox.0": { $exists: true } }, name: "outbox" },
    ),
);
