import type { IncomingHttpHeaders } from "node:http";
import { readTraceHeaders, type TraceContext } from "./trace-context.ts";

/**
 * Returns the context that a request brings along; undefined unless `TRUST_TRACEPARENT` is set: a sender could otherwise
 * have any trace recorded, and put its events into somebody else's.
 */
export function inboundTrace(
  { config }: { config: { tracing: { trustsInbound: boolean } } },
  headers: IncomingHttpHeaders,
): TraceContext | undefined {
  if (!config.tracing.trustsInbound) return undefined;
  return readTraceHeaders(headers.traceparent, headers.tracestate);
}
