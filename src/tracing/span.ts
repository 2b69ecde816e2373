import type { Logger } from "../lib/logger.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { TraceContext } from "./trace-context.ts";

/**
 * What is recorded of an event's way (docs/observability.md#traces): `ingress`, a request that was accepted, or `timer`;
 * `run` of a component; `emit`, from a worker's start with an emission until its listeners have it; `deliver`, one attempt;
 * `hook` of a component.
 */
export type SpanName = "ingress" | "timer" | "run" | "emit" | "deliver" | "hook";

/** Ids, counts and codes that the platform made or bounds: never a payload, a header, a URL or a message. */
export type SpanAttributes = Record<string, string | number | undefined>;

/** A span in progress. One that is never ended is never exported. */
export interface Span {
  /** The parent of what follows from it. */
  readonly context: TraceContext;
  /** `endMs` is in Unix milliseconds; `errorType` is given for what failed. */
  end(attributes: SpanAttributes, endMs: number, errorType?: string): void;
}

/** Where traces go, as the settings say. */
export interface TracingConfig {
  /** Absent: no span is recorded. */
  endpoint: string | undefined;
  /** The share of the traces beginning here that is recorded. */
  ratio: number;
  /** Tests wait less than a second for spans, or for longer than they last. */
  exportEveryMs?: number;
}

/** Takes spans and sends them to a collector. */
export interface SpanExport {
  /** Begins the span of `context`, below `parent` if there is one. */
  begin(name: SpanName, startMs: number, context: TraceContext, parent: TraceContext | undefined): Span;
  /** Sends what waits, for at most `deadlineMs`. */
  close(deadlineMs: number): Promise<void>;
}

/** What the exporter needs to know of the process. */
export interface TracedProcess {
  log: Logger;
  metrics: Metrics;
  version: string;
  /** `web`, or the name of a queue. */
  name: string;
  /** Its random name. */
  id: string;
}
