import { setTimeout as delay } from "node:timers/promises";
import { RateLimitedError, UnavailableError } from "../../../clients/typescript/src/index.ts";

/** One component took longer than it may. */
export class TooLongError extends Error {}

/** A wait that the server asked for, and whose end is worth waiting for. */
const LONGEST_WAIT_MS = 3_600_000;
const USUAL_WAIT_MS = 5000;
const LONGEST_WAIT_FOR_SERVICE_MS = 30_000;
const MOST_TRIES = 3;

/** The time that one component may take. What the server's own limits make it wait does not count. */
export class TimeLimit {
  readonly #totalMs: number;
  readonly #stop: AbortSignal;
  readonly #onWait: (untilMs: number, why: string) => void;
  #leftMs: number;

  constructor(totalMs: number, stop: AbortSignal, onWait: (untilMs: number, why: string) => void) {
    this.#totalMs = totalMs;
    this.#leftMs = totalMs;
    this.#stop = stop;
    this.#onWait = onWait;
  }

  /**
   * Makes a call of the API, again after the server's rate limit. Throws TooLongError, the reason of the stop signal, and the
   * client's errors.
   */
  async spend<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      const outOfTime = AbortSignal.timeout(Math.max(1, Math.ceil(this.#leftMs)));
      const startedAt = performance.now();
      try {
        return await call(AbortSignal.any([this.#stop, outOfTime]));
      } catch (error) {
        this.#stop.throwIfAborted();
        if (outOfTime.aborted) throw new TooLongError(`took more than ${this.#totalMs / 1000} s`);
        await this.#waitAfter(error, tries);
      } finally {
        this.#leftMs -= performance.now() - startedAt;
      }
    }
  }

  /** Waits as long as the server asks for, or throws the error. */
  async #waitAfter(error: unknown, tries: number): Promise<void> {
    if (error instanceof RateLimitedError) {
      const waitMs = error.retryAfterMs ?? USUAL_WAIT_MS;
      if (waitMs > LONGEST_WAIT_MS) throw error;
      this.#onWait(Date.now() + waitMs, error.detail);
      return await delay(waitMs, undefined, { signal: this.#stop });
    }
    if (!(error instanceof UnavailableError) || tries >= MOST_TRIES) throw error;
    const waitMs = Math.min(error.retryAfterMs ?? USUAL_WAIT_MS, LONGEST_WAIT_FOR_SERVICE_MS);
    await delay(waitMs, undefined, { signal: this.#stop });
  }
}
