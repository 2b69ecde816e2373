import { once } from "node:events";
import { childrenGiveWay } from "../fairness/niceness.ts";
import { Slots } from "../fairness/slots.ts";
import { AppError } from "../lib/errors.ts";
import { type Esbuild, type StartedEsbuild, startEsbuild } from "../lib/new-esbuild.ts";
import { settlesWithin, withDeadline } from "../lib/time.ts";
import { LIMITS } from "../limits/catalogue.ts";

export type { Esbuild } from "../lib/new-esbuild.ts";

/** The code made esbuild's process crash: deeply nested code overflows its stack (1 MB of `[` in 0.28.2). */
export class EsbuildCrashError extends Error {
  constructor(cause: unknown) {
    super("the code is nested too deeply to be parsed", { cause });
  }
}

/** Something else than the code ended esbuild's process, such as a lack of memory, or kept it from starting. */
class EsbuildLostError extends Error {}

/** The code takes long, or the machine is busy; which of the two can't be known. */
export class EsbuildTimeoutError extends AppError {
  constructor(limitMs: number) {
    super("unavailable", `processing the code took more than ${limitMs / 1000} s`, { retryAfterMs: 10_000 });
  }
}

const slots = new Slots({
  total: LIMITS.builds.value,
  perAccount: LIMITS.buildsPerAccount.value,
  what: "components are being built",
});
/** Instances that wait for their next call. */
const idle: StartedEsbuild[] = [];

const RETRY_MS = 10_000;
/** A process that closed its pipes has ended a moment later. */
const EXIT_MS = 2000;

const isDiagnosis = (error: unknown): boolean => Array.isArray((error as { errors?: unknown }).errors);

const hasEnded = ({ exitCode, signalCode }: StartedEsbuild["child"]): boolean =>
  exitCode !== null || signalCode !== null;

/** Returns an instance whose process runs. */
function takeIdle(): StartedEsbuild | undefined {
  for (let known = idle.pop(); known; known = idle.pop()) if (!hasEnded(known.child)) return known;
  return undefined;
}

async function attempt<T>(limitMs: number, call: (esbuild: Esbuild) => Promise<T>): Promise<T> {
  const known = takeIdle();
  const instance = known ?? startEsbuild();
  const { esbuild, child } = instance;
  let isUsable = false;
  try {
    const calling = call(esbuild);
    // It uses all processors, and requests of other accounts are not to wait for it.
    if (!known) setImmediate(childrenGiveWay, "esbuild");
    const result = await withDeadline(calling, limitMs, () => new EsbuildTimeoutError(limitMs));
    isUsable = true;
    // Threads that it started while the first ones were being changed.
    if (!known) childrenGiveWay("esbuild");
    return result;
  } catch (error) {
    isUsable = isDiagnosis(error);
    throw isUsable ? error : await causeOf(error, child);
  } finally {
    if (isUsable) idle.push(instance);
    else void esbuild.stop();
  }
}

/** Returns why a call failed without a diagnosis: by its exit code, a process says that it could not go on with the code. */
async function causeOf(error: unknown, child: StartedEsbuild["child"]): Promise<unknown> {
  if (!(error instanceof Error && error.message.startsWith("The service "))) return error;
  if (!hasEnded(child)) await settlesWithin(once(child, "exit"), EXIT_MS).catch(() => false);
  return (child.exitCode ?? 0) > 0
    ? new EsbuildCrashError(error)
    : new EsbuildLostError(error.message, { cause: error });
}

/** Repeats a call whose process was lost once. */
async function attemptTwice<T>(limitMs: number, call: (esbuild: Esbuild) => Promise<T>): Promise<T> {
  try {
    return await attempt(limitMs, call).catch((error: unknown) => {
      if (error instanceof EsbuildLostError) return attempt(limitMs, call);
      throw error;
    });
  } catch (error) {
    if (!(error instanceof EsbuildLostError)) throw error;
    const message = "the code could not be processed, for lack of memory or time";
    throw new AppError("unavailable", message, { cause: error, retryAfterMs: RETRY_MS });
  }
}

/**
 * Runs `call` with an instance of esbuild that no other call uses, for at most `limitMs` milliseconds, so that code that
 * crashes or occupies esbuild's process stops no other account's build. Accounts are served in turn. Throws esbuild's
 * own error with its diagnosis (`errors`), EsbuildTimeoutError or EsbuildCrashError. A call whose process was lost for another
 * reason than its code is repeated once; then it throws `unavailable`.
 */
export function withEsbuild<T>(
  account: string,
  limitMs: number,
  call: (esbuild: Esbuild) => Promise<T>,
): Promise<T> {
  return slots.run(account, () => attemptTwice(limitMs, call));
}
