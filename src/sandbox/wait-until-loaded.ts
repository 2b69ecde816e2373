import { settlesWithin } from "../lib/time.ts";
import { hostError, SANDBOX_LOST } from "./host-error.ts";
import type { CallError } from "./protocol.ts";
import type { Sandbox } from "./sandbox.ts";

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
