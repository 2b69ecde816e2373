import {
  createTraceState,
  type HrTime,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOnSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
  type SpanExporter,
} from "@opentelemetry/sdk-trace-base";
import { warnThrottled } from "../lib/logger.ts";
import { settlesWithin } from "../lib/time.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { Span, SpanAttributes, SpanExport, SpanName, TracedProcess, TracingConfig } from "./span.ts";
import { spanIdOf, stateOf, type TraceContext, traceIdOf } from "./trace-context.ts";

/** Most spans of one request. */
const SPANS_PER_REQUEST = 512;
/** The library sends all that waits at the same time when it is closed, beside a request that is under way. */
const MOST_REQUESTS = LIMITS.spansWaiting.value / SPANS_PER_REQUEST + 1;
/** How long one request may take with its repetitions. */
const EXPORT_MS = 5000;
/** How long spans wait for others to be sent with: a process that is killed loses as much. */
const EXPORT_EVERY_MS = 1000;

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

/** A span as the process recorded it. Times are in Unix milliseconds. */
interface EndedSpan {
  name: SpanName;
  context: TraceContext;
  parent: TraceContext | undefined;
  startMs: number;
  endMs: number;
  attributes: SpanAttributes;
  errorType: string | undefined;
}

/**
 * Exports spans over OTLP/HTTP with protobuf: in batches, of a bounded number that waits. A collector that is away costs the
 * spans, a counter and a warning now and then.
 */
export class OtlpExport implements SpanExport {
  readonly #metrics: TracedProcess["metrics"];
  readonly #warn: (error: unknown) => void;
  readonly #provider: BasicTracerProvider;
  readonly #tracer: Tracer;
  readonly #ids = new GivenIds();
  /** Spans that ended and whose export has not. */
  #waiting = 0;
  #isClosed = false;

  /** Opens no connection yet. The exporter reads further variables of OpenTelemetry's, such as its headers, by itself. */
  constructor(config: TracingConfig & { endpoint: string }, process: TracedProcess) {
    this.#metrics = process.metrics;
    this.#warn = warnThrottled(process.log, "spans can't be exported");
    const exporter = new OTLPTraceExporter({
      url: `${config.endpoint.replace(/\/+$/, "")}/v1/traces`,
      timeoutMillis: EXPORT_MS,
      concurrencyLimit: MOST_REQUESTS,
    });
    this.#provider = new BasicTracerProvider({
      resource: resourceFromAttributes({ "service.name": "headwater" })
        .merge(detectResources({ detectors: [envDetector] }))
        .merge(
          resourceFromAttributes({
            "service.version": process.version,
            "service.instance.id": process.id,
            "headwater.process": process.name,
          }),
        ),
      // `Tracer` has decided already.
      sampler: new AlwaysOnSampler(),
      idGenerator: this.#ids,
      spanProcessors: [
        new BatchSpanProcessor(this.#reported(exporter), {
          maxQueueSize: LIMITS.spansWaiting.value,
          maxExportBatchSize: SPANS_PER_REQUEST,
          scheduledDelayMillis: config.exportEveryMs ?? EXPORT_EVERY_MS,
          exportTimeoutMillis: EXPORT_MS,
        }),
      ],
    });
    this.#tracer = this.#provider.getTracer("headwater", process.version);
  }

  begin(name: SpanName, startMs: number, context: TraceContext, parent: TraceContext | undefined): Span {
    return {
      context,
      end: (attributes, endMs, errorType) =>
        this.#add({ name, context, parent, startMs, endMs, attributes, errorType }),
    };
  }

  async close(deadlineMs: number): Promise<void> {
    this.#isClosed = true;
    // What is not exported was counted, and is reported as failed.
    await settlesWithin(
      this.#provider.shutdown().catch(() => undefined),
      deadlineMs,
    );
  }

  #add(span: EndedSpan): void {
    if (this.#isClosed || this.#waiting >= LIMITS.spansWaiting.value) {
      this.#metrics.count("spans_total", { outcome: "dropped" });
      return;
    }
    this.#waiting += 1;
    this.#record(span);
  }

  #record({ name, context, parent, startMs, endMs, attributes, errorType }: EndedSpan): void {
    this.#ids.next = context;
    const below = parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parentOf(parent));
    const options = { kind: KINDS[name], startTime: timeOf(startMs), attributes };
    const span = this.#tracer.startSpan(name, options, below);
    if (errorType !== undefined) {
      span.setAttribute("error.type", errorType);
      span.setStatus({ code: SpanStatusCode.ERROR });
    }
    span.end(timeOf(endMs));
  }

  /** Counts what becomes of spans. */
  #reported(exporter: SpanExporter): SpanExporter {
    return {
      export: (spans, done) =>
        exporter.export(spans, result => {
          const isExported = result.error === undefined && result.code === 0;
          this.#waiting -= spans.length;
          this.#metrics.count("spans_total", { outcome: isExported ? "exported" : "failed" }, spans.length);
          if (!isExported) this.#warn(result.error ?? new Error("no reason given"));
          done(result);
        }),
      shutdown: () => exporter.shutdown(),
    };
  }
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
