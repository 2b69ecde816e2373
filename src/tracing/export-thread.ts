import { parentPort, workerData } from "node:worker_threads";
import {
  createTraceState,
  type HrTime,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOnSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
  type SpanExporter,
} from "@opentelemetry/sdk-trace-base";
import { LIMITS } from "../limits/catalogue.ts";
import type { SpanAttributes, SpanName } from "./span.ts";
import { spanIdOf, stateOf, type TraceContext, traceIdOf } from "./trace-context.ts";

/** What this thread is started with. */
export interface ExportSettings {
  /** Where spans are sent to, with its path. */
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Attributes of the process that records the spans. */
  resource: Record<string, string>;
  version: string;
  /** Most spans of one request. */
  spansPerRequest: number;
}

/** A span as the process recorded it. Times are in Unix milliseconds. */
export interface EndedSpan {
  name: SpanName;
  context: TraceContext;
  parent: TraceContext | undefined;
  startMs: number;
  endMs: number;
  attributes: SpanAttributes;
  errorType: string | undefined;
}

/** What the process sends: spans to be exported, or that no more will follow; the thread ends once all are exported. */
export type ExportRequest = EndedSpan[] | "close";

/** What the thread responds: what became of so many spans. Without an error they are exported. */
export interface ExportReport {
  spans: number;
  error?: Error;
}

/** How long one request may take with its repetitions. */
const EXPORT_MS = 5000;

const KINDS: Record<SpanName, SpanKind> = {
  ingress: SpanKind.SERVER,
  timer: SpanKind.INTERNAL,
  run: SpanKind.CONSUMER,
  emit: SpanKind.CONSUMER,
  deliver: SpanKind.CLIENT,
  hook: SpanKind.INTERNAL,
};

/** Gives a span the ids that its context has, which was made before it. */
class GivenIds {
  next: TraceContext = "";
  generateTraceId = () => traceIdOf(this.next);
  generateSpanId = () => spanIdOf(this.next);
}

const { url, headers, resource, version, spansPerRequest } = workerData as ExportSettings;
/** The library sends all that waits at the same time when it is closed, beside a request that is under way. */
const MOST_REQUESTS = LIMITS.spansWaiting.value / spansPerRequest + 1;
const ids = new GivenIds();
const provider = new BasicTracerProvider({
  resource: resourceFromAttributes(resource),
  // `Tracer` has decided already.
  sampler: new AlwaysOnSampler(),
  idGenerator: ids,
  spanProcessors: [
    new BatchSpanProcessor(
      reported(
        new OTLPTraceExporter({
          url,
          headers: { ...headers },
          timeoutMillis: EXPORT_MS,
          concurrencyLimit: MOST_REQUESTS,
        }),
      ),
      {
        maxQueueSize: LIMITS.spansWaiting.value,
        maxExportBatchSize: spansPerRequest,
        // They have waited for each other in the process.
        scheduledDelayMillis: 0,
        exportTimeoutMillis: EXPORT_MS,
      },
    ),
  ],
});
const tracer = provider.getTracer("headwater", version);

parentPort?.on("message", async (request: ExportRequest) => {
  if (request !== "close") return void request.forEach(record);
  await provider.shutdown().catch(() => undefined);
  parentPort?.close();
});

function record({ name, context, parent, startMs, endMs, attributes, errorType }: EndedSpan): void {
  ids.next = context;
  const below = parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parentOf(parent));
  const span = tracer.startSpan(name, { kind: KINDS[name], startTime: timeOf(startMs), attributes }, below);
  if (errorType !== undefined) {
    span.setAttribute("error.type", errorType);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end(timeOf(endMs));
}

/** As seconds and nanoseconds: the library takes a number from before the process started for one since its start. */
function timeOf(ms: number): HrTime {
  return [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)];
}

function parentOf(context: TraceContext): SpanContext {
  const state = stateOf(context);
  return {
    traceId: traceIdOf(context),
    spanId: spanIdOf(context),
    traceFlags: TraceFlags.SAMPLED,
    isRemote: true,
    ...(state !== "" && { traceState: createTraceState(state) }),
  };
}

/** Reports what becomes of spans. */
function reported(exporter: SpanExporter): SpanExporter {
  return {
    export: (spans, done) =>
      exporter.export(spans, result => {
        const isExported = result.error === undefined && result.code === 0;
        const report: ExportReport = { spans: spans.length };
        if (!isExported) report.error = result.error ?? new Error("no reason given");
        parentPort?.postMessage(report);
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
  };
}
