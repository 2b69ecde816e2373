import { Worker } from "node:worker_threads";
import { settlesWithin } from "../lib/deadline.ts";
import { warnThrottled } from "../lib/warn-throttled.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { EndedSpan, ExportReport, ExportRequest, ExportSettings } from "./export-thread.ts";
import type { Span, SpanExport, SpanName, TracedProcess, TracingConfig } from "./span.ts";
import type { TraceContext } from "./trace-context.ts";

/** So many spans fill a request, and don't wait for others. */
const SPANS_PER_REQUEST = 512;
/** What the thread may take; spans that wait are some 2 MB. */
const OLD_SPACE_MB = 64;
const YOUNG_SPACE_MB = 2;

const IS_SOURCE = import.meta.url.endsWith(".ts");
/** What compiles the sources does so in a process' first thread only, unless another one asks for it. */
const PROGRAM = IS_SOURCE
  ? `import("tsx/esm/api").then(({ register }) => { register(); return import("${new URL("./export-thread.ts", import.meta.url)}"); });`
  : new URL("./export-thread.js", import.meta.url);

/**
 * Exports spans over OTLP/HTTP with protobuf, in a thread of its own (`export-thread.ts`): V8 optimizes a process' sockets,
 * streams and HTTP for what they do all the time, and the first request of another kind made all of them slower, by more
 * than all spans of a sample of 1 % (docs/decisions/0035-traces.md#price). OpenTelemetry's libraries are loaded there only.
 *
 * A collector that is away, or a thread that ended, costs the spans, a counter and a warning now and then.
 */
export class ThreadedExport implements SpanExport {
  readonly #settings: ExportSettings;
  readonly #everyMs: number;
  readonly #metrics: TracedProcess["metrics"];
  readonly #warn: (error: unknown) => void;
  #thread: Worker | undefined;
  #timer: NodeJS.Timeout | undefined;
  #ended: EndedSpan[] = [];
  /** How many the thread has. */
  #handedOver = 0;
  #isClosed = false;

  /** Starts the thread. */
  constructor(config: TracingConfig & { endpoint: string }, process: TracedProcess) {
    this.#settings = {
      url: `${config.endpoint.replace(/\/+$/, "")}/v1/traces`,
      headers: config.headers,
      resource: {
        "service.name": config.serviceName,
        "service.version": process.version,
        "service.instance.id": process.id,
        "headwater.process": process.name,
      },
      version: process.version,
      spansPerRequest: SPANS_PER_REQUEST,
    };
    this.#everyMs = config.exportEveryMs;
    this.#metrics = process.metrics;
    this.#warn = warnThrottled(process.log, "spans can't be exported");
    this.#thread = this.#start();
  }

  begin(name: SpanName, startMs: number, context: TraceContext, parent: TraceContext | undefined): Span {
    return {
      context,
      end: (attributes, endMs, errorType) =>
        this.#add({ name, context, parent, startMs, endMs, attributes, errorType }),
    };
  }

  async close(deadlineMs: number): Promise<void> {
    this.#handOver();
    this.#isClosed = true;
    const thread = this.#thread;
    if (!thread) return;
    const ended = new Promise(resolve => thread.once("exit", resolve));
    thread.postMessage("close" satisfies ExportRequest);
    await settlesWithin(ended, deadlineMs);
    await thread.terminate();
  }

  #add(span: EndedSpan): void {
    if (this.#isClosed || this.#ended.length + this.#handedOver >= LIMITS.spansWaiting.value) {
      this.#metrics.count("spans_total", { outcome: "dropped" });
      return;
    }
    this.#ended.push(span);
    if (this.#ended.length >= SPANS_PER_REQUEST) this.#handOver();
    else this.#timer ??= setTimeout(() => this.#handOver(), this.#everyMs).unref();
  }

  #handOver(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const spans = this.#ended;
    if (spans.length === 0) return;
    this.#ended = [];
    this.#handedOver += spans.length;
    this.#thread ??= this.#start();
    this.#thread.postMessage(spans satisfies ExportRequest);
  }

  #start(): Worker {
    const thread = new Worker(PROGRAM, {
      eval: IS_SOURCE,
      // What was preloaded into the process isn't into the thread.
      execArgv: [],
      workerData: this.#settings,
      resourceLimits: { maxOldGenerationSizeMb: OLD_SPACE_MB, maxYoungGenerationSizeMb: YOUNG_SPACE_MB },
    });
    thread.unref();
    thread.on("message", ({ spans, error }: ExportReport) => this.#settle(spans, error));
    thread.on("error", error => this.#settle(this.#handedOver, error));
    thread.on("exit", () => {
      this.#thread = undefined;
      if (this.#handedOver > 0) this.#settle(this.#handedOver, new Error("the exporting thread ended"));
    });
    return thread;
  }

  #settle(spans: number, error: Error | undefined): void {
    this.#handedOver -= spans;
    this.#metrics.count("spans_total", { outcome: error ? "failed" : "exported" }, spans);
    if (error) this.#warn(error);
  }
}
