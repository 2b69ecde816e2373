import { isDeeperThan } from "../lib/json-text.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { Source } from "../models/source.ts";
import type { Stores } from "../platform.ts";
import type { Emission } from "../queues/emissions.ts";
import type { CallError, Emit, LogLine } from "../sandbox/protocol.ts";

/** Number of log lines of one run that become `$logs` events, which is what a stream keeps. */
export const MAX_LOG_EVENTS = LIMITS.logEvents.value;

/** What triggered a run, for its error event. */
export interface Cause {
  run_id: string;
  kind: string;
  at_ms: number;
  event: unknown;
  hops?: number | undefined;
  /** The place of its run in a trace. */
  trace?: string | undefined;
}

type Emitter = Pick<Source, "_id" | "owner_id" | "component_id">;

/**
 * Returns the emissions of one run: its events, then its log lines, then its error; their ids derive from the run's.
 */
export function emissionsOf(
  source: Emitter,
  cause: Cause,
  result: { emits: Emit[]; logs: LogLine[]; error?: CallError | undefined },
  platform: Stores,
): Emission[] {
  const emission = (suffix: string, name: string, event: unknown, summary?: string): Emission => ({
    emitter_id: source._id,
    emit_id: `${cause.run_id}-${suffix}`,
    name,
    event,
    ...(summary !== undefined && { summary: summary.slice(0, 1024) }),
    hops: cause.hops ?? 0,
    ...(cause.trace !== undefined && { trace: cause.trace }),
  });
  const events = result.emits.map(({ event, metadata }, i) =>
    emission(`${i}`, metadata.name ?? "", event, metadata.summary),
  );
  const logs = result.logs.slice(-MAX_LOG_EVENTS).map((line, i) => emission(`log${i}`, "$logs", line));
  if (!result.error) return [...events, ...logs];
  const error = errorEvent(source, cause, result.error, platform);
  return [...events, ...logs, emission("error", "$errors", error)];
}

/** An error event is a level around the event that caused it, and must stay within the limit of every event. */
const withinDepth = (event: unknown): unknown =>
  isDeeperThan(event, LIMITS.eventDepth.value - 1) ? JSON.stringify(event) : event;

/** The beginning of a response, which the message may have (docs/component-api.md#errors-logs-and-limits), and as much before it. */
const RECORDED_CHARS = 2048;

/** Returns an error as a run record has it. */
export const recordedError = ({ code, message }: CallError): { code: string; message: string } => ({
  code,
  message: message.slice(0, RECORDED_CHARS),
});

/** An error event with what caused it (docs/rest-api.md#event-summary). */
export function errorEvent(source: Emitter, cause: Cause, error: CallError, platform: Stores) {
  const ts = new Date(cause.at_ms).toISOString();
  return {
    original_event: withinDepth(cause.event),
    original_context: {
      id: cause.run_id,
      ts,
      workflow_id: null,
      deployment_id: null,
      source_type: cause.kind,
      verified: false,
      owner_id: source.owner_id,
      platform_version: platform.config.version,
    },
    error: { code: error.code, cellId: source.component_id, ts, stack: error.stack, message: error.message },
  };
}
