import {
  createTraceState,
  type HrTime,
  ROOT_CONTEXT,
  type Span as SdkSpan,
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
  type ReadableSpan,
  type SpanExporter,
  type SpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { settlesWithin } from "../lib/deadline.ts";
import { warnThrottled } from "../lib/warn-throttled.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { Span, SpanAttributes, SpanExport, SpanName, TracedProcess, TracingConfig } from "./span.ts";
import { spanIdOf, stateOf, type TraceContext, traceIdOf } from "./trace-context.ts";

/** Spans wait for company this long: a killed process loses as much. Milliseconds. */
const LINGER_MS = 1000;
/** Spans in one request, and how long it may take with its repetitions. */
const SPANS_PER_REQUEST = 512;
const EXPORT_MS = 5000;

const KINDS: Record<SpanName, SpanKind> = {
  ingress: SpanKind.SERVER,
  timer: SpanKind.INTERNAL,
  run: SpanKind.CONSUMER,
  emit: SpanKind.CONSUMER,
  deliver: SpanKind.CLIENT,
  hook: SpanKind.INTERNAL,
};

/**
 * Opens the export over OTLP/HTTP with protobuf. Imports the libraries of OpenTelemetry, so it is itself imported only
 * where an endpoint is set. A collector that is away costs the spans, a counter and a warning now and then.
 */
export function openSpanExport(
  config: TracingConfig & { endpoint: string },
  process: TracedProcess,
): SpanExport {
  const ids = new GivenIds();
  const exporter = new OTLPTraceExporter({
    url: `${config.endpoint.replace(/\/+$/, "")}/v1/traces`,
    headers: { ...config.headers },
    timeoutMillis: EXPORT_MS,
    concurrencyLimit: 1,
  });
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({
      "service.name": config.serviceName,
      "service.version": process.version,
      "service.instance.id": process.id,
      "headwater.process": process.name,
    }),
    // `Tracer` has decided already.
    sampler: new AlwaysOnSampler(),
    idGenerator: ids,
    spanProcessors: [new BoundedProcessor(exporter, process)],
  });
  const tracer = provider.getTracer("headwater", process.version);
  return {
    begin(name, startMs, context, parent) {
      ids.next = context;
      const below =
        parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parentOf(parent));
      const span = tracer.startSpan(name, { kind: KINDS[name], startTime: timeOf(startMs) }, below);
      return new RecordedSpan(context, span);
    },
    async close(deadlineMs) {
      await settlesWithin(
        provider.shutdown().catch(() => undefined),
        deadlineMs,
      );
    },
  };
}

/** As seconds and nanoseconds: the library takes a number from before the process started for one since its start. */
const timeOf = (ms: number): HrTime => [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)];

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

/** Gives a span the ids that its context has, which was made before it. */
class GivenIds {
  next: TraceContext = "";
  generateTraceId = () => traceIdOf(this.next);
  generateSpanId = () => spanIdOf(this.next);
}

class RecordedSpan implements Span {
  readonly context: TraceContext;
  readonly #span: SdkSpan;

  constructor(context: TraceContext, span: SdkSpan) {
    this.context = context;
    this.#span = span;
  }

  end(attributes: SpanAttributes, endMs: number, errorType?: string): void {
    this.#span.setAttributes(attributes);
    if (errorType !== undefined) {
      this.#span.setAttribute("error.type", errorType);
      this.#span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.#span.end(timeOf(endMs));
  }
}

/** Hands spans to the library's batches, but no more than may wait: it drops them in silence, and here they are counted. */
class BoundedProcessor implements SpanProcessor {
  readonly #batches: BatchSpanProcessor;
  readonly #metrics: Metrics;
  readonly #warn: (error: unknown) => void;
  #waiting = 0;

  constructor(exporter: SpanExporter, { metrics, log }: Pick<TracedProcess, "metrics" | "log">) {
    this.#metrics = metrics;
    this.#warn = warnThrottled(log, "spans can't be exported");
    this.#batches = new BatchSpanProcessor(this.#counted(exporter), {
      maxQueueSize: LIMITS.spansWaiting.value,
      maxExportBatchSize: SPANS_PER_REQUEST,
      scheduledDelayMillis: LINGER_MS,
      exportTimeoutMillis: EXPORT_MS,
    });
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if (this.#waiting >= LIMITS.spansWaiting.value) {
      this.#metrics.count("spans_total", { outcome: "dropped" });
      return;
    }
    this.#waiting += 1;
    this.#batches.onEnd(span);
  }

  forceFlush(): Promise<void> {
    return this.#batches.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.#batches.shutdown();
  }

  #counted(exporter: SpanExporter): SpanExporter {
    return {
      export: (spans, done) =>
        exporter.export(spans, result => {
          this.#waiting -= spans.length;
          const outcome = result.error === undefined && result.code === 0 ? "exported" : "failed";
          this.#metrics.count("spans_total", { outcome }, spans.length);
          if (outcome === "failed") this.#warn(result.error);
          done(result);
        }),
      shutdown: () => exporter.shutdown(),
    };
  }
}
