import type { Bundle } from "./bundle.ts";
import type { CallsOptions } from "./call-options.ts";
import type { Pool, Slot } from "./pool.ts";
import type { CallError, CallResult, CallsRequest } from "./protocol.ts";
import { ended } from "./spawn.ts";

export interface ServeOptions {
  pool: Pick<Pool, "acquire" | "release">;
  /** Of one call, where it has no limit of its own. */
  wallMs: number;
  /** After which a process is ended. */
  maxCalls: number;
}

/** For starting deno and evaluating the module, before the call's own time runs. */
const LOAD_MS = 10_000;
/** Of one process in all its calls; the kernel's own limit on computing can only count the whole process. */
export const MAX_PROCESS_CPU_MS = 10 * 60_000;

const CANCELLED = ended("Cancelled", "The run was cancelled");

/** Gives calls to the process of their key; see `Sandboxes.calls`. */
export function createServe({ pool, wallMs, maxCalls }: ServeOptions) {
  /** On a process that it was lent. Answers how many were called: 0 when it died before it took the first. */
  async function callOn(slot: Slot, request: CallsRequest, options: CallsOptions): Promise<number> {
    const { sandbox, isWarm: wasWarm } = slot;
    const { signal, onResult, onRespond, forMs } = options;
    let keep = false;
    const onAbort = () => sandbox.kill(CANCELLED);
    const failFirst = (error: CallError) => {
      onResult(0, failed(error));
      return 1;
    };
    signal?.addEventListener("abort", onAbort);
    try {
      const failure = await whenLoaded(slot, LOAD_MS);
      if (failure) return wasWarm ? 0 : failFirst(failure);
      if (signal?.aborted) return failFirst(CANCELLED);
      const most = maxCalls - sandbox.served().calls;
      const control = { wallMs: options.wallMs ?? wallMs, forMs, most, onRespond, onResult };
      const done = await sandbox.calls(request, control);
      const served = sandbox.served();
      keep = done > 0 && served.calls < maxCalls && served.cpuMs < MAX_PROCESS_CPU_MS;
      return done > 0 || wasWarm ? done : failFirst(await sandbox.gone);
    } finally {
      signal?.removeEventListener("abort", onAbort);
      pool.release(slot, keep);
    }
  }

  return async (
    key: string,
    bundle: Bundle,
    request: CallsRequest,
    options: CallsOptions,
  ): Promise<number> => {
    for (;;) {
      const slot = await pool.acquire(key, bundle, options).catch((error: unknown) => {
        if (options.signal?.aborted) return undefined;
        throw error;
      });
      if (!slot) {
        options.onResult(0, failed(CANCELLED));
        return 1;
      }
      // None: the warm process had died before it took the call. Its successor is never warm, so this ends.
      const done = await callOn(slot, request, options);
      if (done > 0) return done;
    }
  };
}

/** Waits for the module to be evaluated; a module that never ends loading is a time-out like any other. */
async function whenLoaded({ sandbox }: Slot, ms: number): Promise<CallError | undefined> {
  const late = ended("Timeout", `The component's code was not loaded within ${Math.round(ms)} ms`);
  const timer = setTimeout(() => sandbox.kill(late), ms);
  const loaded = await sandbox.loaded;
  clearTimeout(timer);
  return loaded.state === "failed" ? loaded.error : undefined;
}

function failed(error: CallError): CallResult {
  return { error, emits: [], logs: [], durationMs: 0, cpuMs: 0, memoryBytes: 0 };
}
