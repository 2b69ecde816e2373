import type { PrivateAddress } from "../egress/private-addresses.ts";
import { settlesWithin } from "../lib/time.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { Bundle } from "./bundle.ts";
import type { CallListeners } from "./call-sequence.ts";
import type { Pool } from "./pool.ts";
import type { Slot } from "./pool-processes.ts";
import {
  type BatchRequest,
  type CallError,
  type CallResult,
  type HttpResponse,
  hostError,
  isSandboxLost,
  SANDBOX_LOST,
} from "./protocol.ts";
import type { Sandbox } from "./sandbox.ts";

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

export interface CallOptions {
  /** Called at most once, as soon as the component responds to its HTTP request. */
  onRespond?: (response: HttpResponse) => void;
  /** Ends the call with the error code `Cancelled`. */
  signal?: AbortSignal;
  /** Replaces the host's wall-clock limit for this call. */
  wallMs?: number;
  /** The account that owns the source. Processes are shared between accounts; no account can use all of them. */
  owner?: string;
  /** What the code may connect to beside public addresses; by default nothing. */
  opened?: readonly PrivateAddress[];
  /**
   * Permits that sources of the same account with the same code use one process, one after the other
   * (docs/decisions/0023-timers-share-processes.md).
   */
  isShareable?: boolean;
}

export interface BatchOptions extends Omit<CallOptions, "onRespond">, CallListeners {
  /** No call starts later than this many milliseconds after the first. */
  startWithinMs: number;
}

/**
 * For starting deno and evaluating the module, before the call's own time starts, in milliseconds: of processor time, and
 * in all. A machine that is busy, or whose host is, takes several times as long for the same work.
 */
const LOAD_MS: LoadLimit = { cpu: 10_000, wall: 30_000 };

/** Milliseconds of processor time, and in all. */
export interface LoadLimit {
  cpu: number;
  wall: number;
}

/** The time is counted in slices: one in which this process stood still counts as one, and the next reads what came. */
const SLICES = 30;
/** The time for which the process waited for a processor is not its own; but it is not waited for longer than this many times. */
const MOST_TIMES = 3;

type Loading = Pick<Sandbox, "kill" | "usedMs">;

/**
 * Waits until a component's module is evaluated for a source. Returns the error if it can't be, or is not in time; that of a
 * process which the machine kept waiting says that it was lost, so that its call is repeated.
 */
export async function waitUntilLoaded(
  sandbox: Loading & Pick<Sandbox, "load">,
  source: number,
  limit = LOAD_MS,
): Promise<CallError | undefined> {
  const loaded = await killUnlessSettled(sandbox, sandbox.load(source), limit);
  return loaded.state === "failed" ? loaded.error : undefined;
}

/** Returns what `work` in a process resolves with. Kills the process if that takes longer than loading may. */
export async function killUnlessSettled<T>(sandbox: Loading, work: Promise<T>, limit = LOAD_MS): Promise<T> {
  const before = sandbox.usedMs();
  for (let slice = 1; !(await settlesWithin(work, limit.wall / SLICES)); slice += 1) {
    const used = sandbox.usedMs();
    const ownMs = (slice * limit.wall) / SLICES - (used.waited - before.waited);
    if (used.cpu - before.cpu >= limit.cpu) {
      const message = `The component's code computed for ${limit.cpu / 1000} s and was still not loaded`;
      sandbox.kill(hostError("Timeout", message));
    } else if (ownMs >= limit.wall || slice >= MOST_TIMES * SLICES) {
      const message = `The component's code did not load within ${limit.wall / 1000} s`;
      sandbox.kill(hostError(ownMs >= limit.wall ? "Timeout" : SANDBOX_LOST, message));
    }
  }
  return work;
}
