import { type Static, Type } from "typebox";
import type { RunRecord } from "../models/run.ts";

/** The few facts of a run that explain what became of an event. */
export const RunSummary = Type.Object({
  id: Type.String(),
  source_id: Type.String(),
  trigger: Type.String(),
  outcome: Type.String({ description: "`ok`, or the code of the error" }),
  error: Type.Union([Type.Object({ code: Type.String(), message: Type.String() }), Type.Null()]),
  emitted: Type.Integer(),
  dropped: Type.Record(Type.String(), Type.Integer()),
  started_at_ms: Type.Union([Type.Integer(), Type.Null()]),
  finished_at_ms: Type.Integer(),
});
export type RunSummary = Static<typeof RunSummary>;

export const summarizeRun = (record: RunRecord): RunSummary => ({
  id: record._id,
  source_id: record.source_id,
  trigger: record.kind,
  outcome: record.outcome,
  error: record.error ?? null,
  emitted: record.emitted,
  dropped: record.dropped,
  started_at_ms: record.started_at_ms ?? null,
  finished_at_ms: record.finished_at.getTime(),
});
