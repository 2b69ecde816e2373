import type { Metrics } from "../metrics/metrics.ts";
import type { Bundle } from "./bundle.ts";
import type { BatchOptions } from "./call-options.ts";
import { hostError, isSandboxLost } from "./host-error.ts";
import type { Pool, Slot } from "./pool.ts";
import type { BatchRequest, CallError, CallResult } from "./protocol.ts";
import { waitUntilLoaded } from "./wait-until-loaded.ts";

export interface CallRunnerOptions {
  pool: Pick<Pool, "acquire" | "release">;
  /** Wall-clock limit of a call that does not set its own. */
  wallMs: number;
  /** A process is ended after this many calls. */
  maxCalls: number;
  metrics?: Pick<Metrics, "observe"> | undefined;
}

/**
 * Processor time of one process for all of its calls, after which it is ended. The kernel's limit can only count the
 * whole process, so it is derived from this.
 */
export const MAX_PROCESS_CPU_MS = 10 * 60_000;

const CANCELLED = hostError("Cancelled", "The run was cancelled");

/** Runs batches of calls in processes of the pool. */
export class CallRunner {
  readonly #options: CallRunnerOptions;

  constructor(options: CallRunnerOptions) {
    this.#options = options;
  }

  /**
   * See `Sandboxes.callBatch`. A call whose process is ended from outside is repeated once, in another process; what it
   * sent elsewhere by then is sent again (docs/component-api.md#errors-logs-and-limits).
   */
  async run(key: string, bundle: Bundle, request: BatchRequest, options: BatchOptions): Promise<number> {
    let lost: number | undefined;
    let { db } = request;
    const completed = await this.#runOnce(key, bundle, request, {
      ...options,
      onResult(index, result) {
        if (isSandboxLost(result.error) && !options.signal?.aborted) lost = index;
        else {
          db = result.db ?? db;
          options.onResult(index, result);
        }
      },
    });
    if (lost === undefined) return completed;
    const index = lost;
    const again = { ...request, db, events: request.events.slice(index, index + 1) };
    await this.#runOnce(key, bundle, again, {
      ...options,
      startWithinMs: 0,
      onRespond: (_, response) => options.onRespond?.(index, response),
      onResult: (_, result) => options.onResult(index, result),
    });
    return index + 1;
  }

  async #runOnce(key: string, bundle: Bundle, request: BatchRequest, options: BatchOptions): Promise<number> {
    const startedAt = performance.now();
    for (;;) {
      const slot = await this.#acquire(key, bundle, options);
      if (!slot) {
        options.onResult(0, failedResult(CANCELLED));
        return 1;
      }
      // 0 means that a warm process ended before it started the first call. The process after it is never warm, so
      // this loop ends.
      const completed = await this.#runIn(slot, request, options, startedAt);
      if (completed > 0) return completed;
    }
  }

  /** Returns undefined if the call was cancelled while it waited. */
  #acquire(key: string, bundle: Bundle, options: BatchOptions): Promise<Slot | undefined> {
    return this.#options.pool.acquire(key, bundle, options).catch((error: unknown) => {
      if (options.signal?.aborted) return undefined;
      throw error;
    });
  }

  /** Runs calls in an acquired process and releases it; they wait since `since`. Returns how many ended; see `#runOnce` for 0. */
  async #runIn(slot: Slot, request: BatchRequest, options: BatchOptions, since: number): Promise<number> {
    const { sandbox, source, isWarm: wasWarm } = slot;
    const { signal, onResult, onRespond, startWithinMs } = options;
    const { maxCalls } = this.#options;
    let keep = false;
    const onAbort = () => sandbox.kill(CANCELLED);
    const failFirst = (error: CallError) => {
      onResult(0, failedResult(error));
      return 1;
    };
    signal?.addEventListener("abort", onAbort);
    try {
      const loadError = await waitUntilLoaded(sandbox, source);
      this.#options.metrics?.observe("sandbox_wait_seconds", (performance.now() - since) / 1000);
      if (loadError) return wasWarm ? 0 : failFirst(loadError);
      if (signal?.aborted) return failFirst(CANCELLED);
      const completed = await sandbox.callBatch(request, {
        source,
        wallMs: options.wallMs ?? this.#options.wallMs,
        startWithinMs,
        maxCalls: maxCalls - sandbox.served().calls,
        onRespond,
        onResult,
      });
      const served = sandbox.served();
      keep = completed > 0 && served.calls < maxCalls && served.cpuMs < MAX_PROCESS_CPU_MS;
      return completed > 0 || wasWarm ? completed : failFirst(await sandbox.gone);
    } finally {
      signal?.removeEventListener("abort", onAbort);
      this.#options.pool.release(slot, keep);
    }
  }
}

function failedResult(error: CallError): CallResult {
  return { error, emits: [], logs: [], durationMs: 0, cpuMs: 0, memoryBytes: 0 };
}
