import { Schema } from "mongoose";
import { collection, schemaOptions } from "../store/connections/mongo.ts";

/** One finished run: its outcome, and its emissions, or those of its whole batch, until they are enqueued. */
export interface RunRecord {
  _id: string;
  source_id: string;
  owner_id: string;
  /** What triggered it: `http`, `timer`, `event`, `manual`, or the change whose hooks ran; `part` is a further part of an outbox. */
  kind: string;
  /** `ok`, or the code of its error. */
  outcome: string;
  /** Why it failed; absent for a successful run. */
  error?: { code: string; message: string };
  /** Unix milliseconds; absent if it was not executed. */
  started_at_ms?: number;
  duration_ms: number;
  /** CPU time of the sandbox; 0 if the system does not report it. */
  cpu_ms?: number;
  /** Memory of the sandbox process at the end of the run; 0 if the system does not report it. */
  memory_bytes?: number;
  emitted: number;
  /** Events dropped on purpose, by reason (docs/design.md#guarantee-8). */
  dropped: Record<string, number>;
  /** JSON of each emission still to be enqueued; absent once they are. In several parts if a run emitted much. */
  outbox?: string[];
  /**
   * The score of the outbox's first emission; the others follow. Reserved once, before the record is stored, so that the
   * emissions keep their order however often, and by however many processes, they are enqueued.
   */
  outbox_score?: number;
  /** Its place in a trace. */
  trace?: string;
  finished_at: Date;
  /** When MongoDB deletes it. */
  expires_at: Date;
}

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
      outbox_score: { type: Number, default: undefined },
      trace: { type: String, default: undefined },
      finished_at: { type: Date, required: true },
      expires_at: { type: Date, required: true },
    },
    schemaOptions,
  )
    .index({ expires_at: 1 }, { expireAfterSeconds: 0 })
    .index({ source_id: 1, _id: -1 })
    // Only of failed runs, so that a successful one does not pay for it.
    .index(
      { source_id: 1, _id: -1 },
      { partialFilterExpression: { error: { $exists: true } }, name: "failed" },
    )
    // By time: an index of the outbox itself would hold whole events.
    .index(
      { finished_at: 1, _id: 1 },
      { partialFilterExpression: { "outbox.0": { $exists: true } }, name: "unsent" },
    ),
);
