import { setTimeout as delay } from "node:timers/promises";
import {
  ApiError,
  ConnectionError,
  ForbiddenError,
  InternalError,
  InvalidError,
  LimitReachedError,
  RateLimitedError,
  TimeoutError,
  UnauthenticatedError,
  UnavailableError,
} from "../../../clients/typescript/src/index.ts";
import { shortened } from "../output.ts";
import type { Step } from "./report.ts";

/** What the code of a component threw when it ran. */
export class RunFailedError extends Error {}

const MOST_CHARACTERS = 500;
const PROP = /(?:^|\.)configured_props\.([^.]+)/;

/** Returns true for an error that every other component would meet too: the examination ends, and goes on later. */
export function endsAll(error: unknown): boolean {
  if (error instanceof TimeoutError) return false;
  const kinds = [ConnectionError, UnauthenticatedError, ForbiddenError, LimitReachedError, RateLimitedError];
  return kinds.some(kind => error instanceof kind);
}

/**
 * Returns what an error says about one component; undefined for an error of this program. `accounts` are the apps of which it
 * was given no account: some need none, but an error without one says nothing about the component.
 */
export function failureOf(
  error: unknown,
  accounts: readonly string[],
  readable: (text: string) => string,
): Step | undefined {
  const text = textOf(error);
  if (text === undefined) return undefined;
  const missing = [...new Set([...missingProps(error), ...accounts])].sort();
  if (missing.length > 0) return { result: "needs_props", cause: missing.join(", ") };
  return { result: "failed", cause: shortened(readable(text), MOST_CHARACTERS) };
}

function textOf(error: unknown): string | undefined {
  if (error instanceof InternalError) return `the server failed (request ${error.requestId} in its log)`;
  if (error instanceof ApiError) return error.detail.replace(/^component_url: /, "");
  const isOurs = [TooLongError, RunFailedError, TimeoutError].some(kind => error instanceof kind);
  return isOurs ? (error as Error).message : undefined;
}

/** The names of the props that a deployment lacks; none if anything else was wrong with it. */
function missingProps(error: unknown): string[] {
  if (!(error instanceof InvalidError)) return [];
  const names = error.errors.map(({ path = "", message }) =>
    message.startsWith("is required") ? PROP.exec(path)?.[1] : undefined,
  );
  return names.every(name => name !== undefined) ? names : [];
}

/** One component took longer than it may. */
class TooLongError extends Error {}

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
