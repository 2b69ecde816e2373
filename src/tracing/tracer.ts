import { createHash, randomBytes } from "node:crypto";
import { type Sampler, samplerOf } from "./sampler.ts";
import type { Span, SpanExport, SpanName, TracedProcess, TracingConfig } from "./span.ts";
import { contextOf, isSampled, spanIdOf, stateOf, type TraceContext, traceIdOf } from "./trace-context.ts";

interface Entry {
  /** The context with which it came, if that is trusted. */
  inbound?: TraceContext | undefined;
  /** Makes the ids, so that what is repeated is the same span; random ones by default. */
  seed?: string;
}

/** A root's ids come from 24 bytes; more are drawn at once, because each draw costs as much as ten. */
const POOL_BYTES = 24 * 64;

/**
 * Records spans. Without an endpoint it does nothing: `enter` and `start` return undefined after a look at one field, and
 * what is passed on then is the context that came in, if any.
 */
export class Tracer {
  readonly #spans: SpanExport | undefined;
  readonly #sampler: Sampler;
  #pool = Buffer.alloc(0);

  constructor(sampler: Sampler, spans?: SpanExport) {
    this.#sampler = sampler;
    this.#spans = spans;
  }

  /**
   * Starts the span with which a trace begins or enters, if the sampler has it recorded. Undefined for a new trace that is
   * not: nothing is passed on then, so that an event costs no more than without tracing.
   */
  enter(name: SpanName, startMs: number, { inbound, seed }: Entry = {}): Span | undefined {
    if (!this.#spans) return undefined;
    const ids = seed === undefined ? this.#draw() : createHash("sha256").update(seed).digest("hex");
    const traceId = inbound === undefined ? ids.slice(0, 32) : traceIdOf(inbound);
    const state = inbound === undefined ? "" : stateOf(inbound);
    if (this.#sampler(traceId, inbound)) {
      const context = contextOf({ traceId, spanId: ids.slice(32, 48), isSampled: true, state });
      return this.#spans.begin(name, startMs, context, inbound);
    }
    if (inbound === undefined) return undefined;
    return new UnrecordedSpan(contextOf({ traceId, spanId: spanIdOf(inbound), isSampled: false, state }));
  }

  /**
   * Starts a span below `parent`; undefined without a parent, and if its trace is not recorded: then `parent` itself is
   * passed on.
   */
  start(name: SpanName, parent: TraceContext | undefined, startMs: number): Span | undefined {
    if (!this.#spans || parent === undefined || !isSampled(parent)) return undefined;
    const ids = { traceId: traceIdOf(parent), spanId: this.#draw().slice(32, 48) };
    const context = contextOf({ ...ids, isSampled: true, state: stateOf(parent) });
    return this.#spans.begin(name, startMs, context, parent);
  }

  /** Exports what has ended, for at most `deadlineMs`; what is left then is dropped. */
  async close(deadlineMs: number): Promise<void> {
    await this.#spans?.close(deadlineMs);
  }

  /** 48 random hexadecimal digits. */
  #draw(): string {
    if (this.#pool.length === 0) this.#pool = randomBytes(POOL_BYTES);
    const drawn = this.#pool.subarray(0, 24);
    this.#pool = this.#pool.subarray(24);
    return drawn.toString("hex");
  }
}

/** Passes on a trace that came in, and that is recorded by others only. */
class UnrecordedSpan implements Span {
  readonly context: TraceContext;

  constructor(context: TraceContext) {
    this.context = context;
  }

  end(): void {}
}

/** Opens the tracer of a process. Without an endpoint no library is loaded. */
export async function openTracer(config: TracingConfig, process: TracedProcess): Promise<Tracer> {
  const sampler = samplerOf(config.ratio);
  const { endpoint } = config;
  if (endpoint === undefined) return new Tracer(sampler);
  const { OtlpExport } = await import("./span-export.ts");
  return new Tracer(sampler, new OtlpExport({ ...config, endpoint }, process));
}
