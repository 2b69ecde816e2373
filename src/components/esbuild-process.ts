import { withDeadline } from "../lib/deadline.ts";
import { AppError } from "../lib/errors.ts";
import { FairSlots } from "../lib/fair-slots.ts";
import { childrenGiveWay } from "../lib/give-way.ts";
import { type Esbuild, newEsbuild } from "../lib/new-esbuild.ts";
import { LIMITS } from "../limits/catalogue.ts";

export type { Esbuild } from "../lib/new-esbuild.ts";

/** The code made esbuild's process crash: deeply nested code overflows its stack (1 MB of `[` in 0.28.2). */
export class EsbuildCrashError extends Error {
  constructor(cause: unknown) {
    super("the code is nested too deeply to be parsed", { cause });
  }
}

/** The code takes long, or the machine is busy; which of the two can't be known. */
export class EsbuildTimeoutError extends AppError {
  constructor(limitMs: number) {
    super("unavailable", `processing the code took more than ${limitMs / 1000} s`, { retryAfterMs: 10_000 });
  }
}

const slots = new FairSlots({
  total: LIMITS.builds.value,
  perAccount: LIMITS.buildsPerAccount.value,
  what: "components are being built",
});
/** Instances that wait for their next call. */
const idle: Esbuild[] = [];

const isDiagnosis = (error: unknown): boolean => Array.isArray((error as { errors?: unknown }).errors);

async function attempt<T>(limitMs: number, call: (esbuild: Esbuild) => Promise<T>): Promise<T> {
  const known = idle.pop();
  const esbuild = known ?? newEsbuild();
  let isUsable = false;
  try {
    const calling = call(esbuild);
    // Its process exists from its first call on. It uses all processors, and requests of other accounts are not to wait for it.
    if (!known) setImmediate(childrenGiveWay, "esbuild");
    const result = await withDeadline(calling, limitMs, () => new EsbuildTimeoutError(limitMs));
    isUsable = true;
    // Threads that it started while the first ones were being changed.
    if (!known) childrenGiveWay("esbuild");
    return result;
  } catch (error) {
    isUsable = isDiagnosis(error);
    throw isUsable || error instanceof EsbuildTimeoutError ? error : new EsbuildCrashError(error);
  } finally {
    if (isUsable) idle.push(esbuild);
    else void esbuild.stop();
  }
}

/**
 * Runs `call` with an instance of esbuild that no other call uses, for at most `limitMs` milliseconds, so that code that
 * crashes or occupies esbuild's process stops no other account's build. Accounts are served in turn. Throws esbuild's
 * own error with its diagnosis (`errors`), EsbuildTimeoutError or EsbuildCrashError.
 */
export function withEsbuild<T>(
  account: string,
  limitMs: number,
  call: (esbuild: Esbuild) => Promise<T>,
): Promise<T> {
  return slots.run(account, () => attempt(limitMs, call));
}
