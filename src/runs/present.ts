import type { RunRecord } from "../models/run.ts";
import { traceIdOf } from "../tracing/trace-context.ts";
import type { RunView } from "./schema.ts";

/** Rounds milliseconds to microseconds, the precision of the measurement. */
const rounded = (ms: number) => Math.round(ms * 1000) / 1000;

/** Returns a run as its owner sees it. Live views have no names. */
export function presentRun(record: RunRecord, sourceName?: string): RunView {
  // Every process uses memory, so 0 means that the system does not report it.
  const isMetered = Boolean(record.memory_bytes);
  return {
    id: record._id,
    source_id: record.source_id,
    ...(sourceName !== undefined && { source_name: sourceName }),
    trigger: record.kind,
    outcome: record.outcome,
    error: record.error ?? null,
    started_at_ms: record.started_at_ms ?? null,
    duration_ms: rounded(record.duration_ms),
    cpu_ms: isMetered ? rounded(record.cpu_ms ?? 0) : null,
    memory_bytes: isMetered ? (record.memory_bytes ?? null) : null,
    emitted: record.emitted,
    dropped: record.dropped,
    finished_at_ms: record.finished_at.getTime(),
    trace_id: record.trace === undefined ? null : traceIdOf(record.trace),
  };
}
