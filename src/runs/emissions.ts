import type { Source } from "../models/source.ts";
import type { Platform } from "../platform.ts";
import type { Emission } from "../queues/emissions.ts";
import type { CallError, Emit, LogLine } from "../sandbox/protocol.ts";

/** Log lines of one run that become `$logs` events; as many as a stream keeps. */
const LOG_LINES = 100;

/** What a run was given, for its error event. */
export interface Cause {
  run_id: string;
  kind: string;
  at_ms: number;
  event: unknown;
  hops?: number | undefined;
}

/** The emissions of one run: its events, then its log lines, then its error; ids are derived from the run's. */
export function emissionsOf(
  source: Pick<Source, "_id" | "owner_id" | "component_id">,
  cause: Cause,
  result: { emits: Emit[]; logs: LogLine[]; error?: CallError | undefined },
  platform: Pick<Platform, "config">,
): Emission[] {
  const emission = (suffix: string, name: string, event: unknown, summary?: string): Emission => ({
    emitter_id: source._id,
    emit_id: `${cause.run_id}-${suffix}`,
    name,
    event,
    ...(summary !== undefined && { summary: summary.slice(0, 1024) }),
    hops: cause.hops ?? 0,
  });
  return [
    ...result.emits.map(({ event, metadata }, i) =>
      emission(`${i}`, metadata.name ?? "", event, metadata.summary),
    ),
    ...result.logs.slice(-LOG_LINES).map((line, i) => emission(`log${i}`, "$logs", line)),
    ...(result.error
      ? [emission("error", "$errors", errorEvent(source, cause, result.error, platform))]
      : []),
  ];
}

/** An error event with what caused it (rest-api.md, section 2). */
export function errorEvent(
  source: Pick<Source, "_id" | "owner_id" | "component_id">,
  cause: Cause,
  error: CallError,
  platform: Pick<Platform, "config">,
) {
  const ts = new Date(cause.at_ms).toISOString();
  return {
    original_event: cause.event,
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
