import { setMaxListeners } from "node:events";
import { settlesWithin } from "../../lib/deadline.ts";

/**
 * An attempt in flight for longer leaves its job: its delivery is a pending document by then, so that no crash loses it, and
 * the job's slot is free for others (docs/design.md#guarantee-5). Milliseconds.
 */
export const DETACH_MS = 1000;

/** Attempts that are still in flight although their jobs are over. */
export class Detached {
  readonly #work = new Map<Promise<unknown>, (reason: unknown) => void>();

  /** Lets work outlive its job; `stop` ends it with the worker. */
  add(work: Promise<unknown>, stop: (reason: unknown) => void): void {
    this.#work.set(work, stop);
    const forget = () => this.#work.delete(work);
    work.then(forget, forget);
  }

  /**
   * Does `work` and returns its result; null if it takes longer than `DETACH_MS` and `leave` resolved with true: then it goes
   * on without its job, and `repeat` is called if it fails. `signal` stops the work as long as its job lasts.
   */
  async unlessSlow<Result>({ work, leave, repeat, signal }: Detachable<Result>): Promise<Result | null> {
    const stop = new AbortController();
    // Each attempt of the work listens; Node would warn about more than ten listeners.
    setMaxListeners(0, stop.signal);
    const onAbort = () => stop.abort(signal?.reason);
    if (signal?.aborted) onAbort();
    signal?.addEventListener("abort", onAbort, { once: true });
    const result = work(stop.signal);
    // Awaited below; until then a rejection without a listener would end the process.
    result.catch(() => undefined);
    try {
      if ((await settlesWithin(result, DETACH_MS)) || !(await leave().catch(() => false)))
        return await result;
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
    this.add(
      result.catch(error => repeat(error, stop.signal)),
      reason => stop.abort(reason),
    );
    return null;
  }

  /** Waits for what is in flight; after `deadlineMs` it is stopped, and stays pending. */
  async close(deadlineMs: number): Promise<void> {
    if (await settlesWithin(Promise.allSettled([...this.#work.keys()]), deadlineMs)) return;
    for (const stop of this.#work.values()) stop(new Error("the worker is stopping"));
    await Promise.allSettled([...this.#work.keys()]);
  }
}

interface Detachable<Result> {
  work: (signal: AbortSignal) => Promise<Result>;
  /** Makes sure that no crash loses the work any longer; resolves with false if it must stay in its job. */
  leave: () => Promise<boolean>;
  /** Does the work again; the signal is aborted when the worker stops. */
  repeat: (error: unknown, signal: AbortSignal) => Promise<void>;
  signal: AbortSignal | undefined;
}
