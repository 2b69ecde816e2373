import { stop } from "esbuild";
import { withDeadline } from "../lib/deadline.ts";

/**
 * The code made esbuild's process crash. All calls of esbuild share one child process, which deeply nested code ends:
 * its stack overflows (tried with 1 MB of `[` in 0.28.2), and from then on every call fails. Therefore a call that lost
 * the process is repeated with no other call beside it. If it loses the process again, its own code was the reason.
 */
export class EsbuildCrashError extends Error {
  constructor(cause: unknown) {
    super("the code is nested too deeply to be parsed", { cause });
  }
}

export class EsbuildTimeoutError extends Error {
  constructor(limitMs: number) {
    super(`processing the code took more than ${limitMs / 1000} s`);
  }
}

/** Counts the processes of esbuild. */
let generation = 0;
/** Resolves when no call runs exclusively. */
let exclusive: Promise<void> = Promise.resolve();
const running = new Set<Promise<unknown>>();
/** Each ends one running call, because esbuild never settles the calls of a process that `stop` ended. */
const crashListeners = new Set<(cause: unknown) => void>();

/** Ends the shared process, once for each generation. The next call starts a new one. */
function restart(seenGeneration: number, cause: unknown): void {
  if (seenGeneration !== generation) return;
  generation += 1;
  void stop();
  for (const onCrash of crashListeners) onCrash(cause);
  crashListeners.clear();
}

const isDiagnosis = (error: unknown): boolean => Array.isArray((error as { errors?: unknown }).errors);

async function attempt<T>(call: () => Promise<T>, limitMs: number): Promise<T> {
  const seenGeneration = generation;
  let onCrash: (cause: unknown) => void = () => {};
  const crashed = new Promise<never>((_, reject) => {
    onCrash = cause => reject(new EsbuildCrashError(cause));
  });
  crashListeners.add(onCrash);
  try {
    return await withDeadline(
      Promise.race([call(), crashed]),
      limitMs,
      () => new EsbuildTimeoutError(limitMs),
    );
  } catch (error) {
    if (isDiagnosis(error) || error instanceof EsbuildCrashError) throw error;
    crashListeners.delete(onCrash);
    restart(seenGeneration, error);
    if (error instanceof EsbuildTimeoutError) throw error;
    throw new EsbuildCrashError(error);
  } finally {
    crashListeners.delete(onCrash);
  }
}

async function attemptExclusively<T>(call: () => Promise<T>, limitMs: number): Promise<T> {
  const previous = exclusive;
  let done = () => {};
  exclusive = new Promise(resolve => {
    done = resolve;
  });
  await previous;
  await Promise.allSettled(running);
  try {
    return await attempt(call, limitMs);
  } finally {
    done();
  }
}

/**
 * Runs `call`, which uses esbuild, for at most `limitMs` milliseconds. Inside `call`, esbuild is called directly.
 * Throws esbuild's own error with its diagnosis (`errors`), EsbuildTimeoutError or EsbuildCrashError.
 */
export async function withEsbuild<T>(limitMs: number, call: () => Promise<T>): Promise<T> {
  for (let seen: Promise<void> | undefined; seen !== exclusive; ) {
    seen = exclusive;
    await seen;
  }
  const attempting = attempt(call, limitMs);
  running.add(attempting);
  try {
    return await attempting;
  } catch (error) {
    if (!(error instanceof EsbuildCrashError)) throw error;
  } finally {
    running.delete(attempting);
  }
  return attemptExclusively(call, limitMs);
}
