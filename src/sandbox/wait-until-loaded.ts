import { settlesWithin } from "../lib/deadline.ts";
import { hostError, SANDBOX_LOST } from "./host-error.ts";
import type { CallError } from "./protocol.ts";
import type { Sandbox } from "./sandbox.ts";

/** For starting deno and evaluating the module, before the call's own time starts. Milliseconds. */
const LOAD_MS = 10_000;
/** The time is counted in slices: one in which this process stood still counts as one, and the next reads what came. */
const SLICES = 10;
/** A process that waited for a processor for this share of the time is not slow itself. */
const STARVED_SHARE = 0.25;

/**
 * Waits until a component's module is evaluated for a source. Returns the error if it can't be, or is not in time; that of a process
 * which the machine kept waiting says that it was lost, so that its call is repeated.
 */
export async function waitUntilLoaded(
  sandbox: Pick<Sandbox, "load" | "kill" | "waitedMs">,
  source: number,
  loadMs = LOAD_MS,
): Promise<CallError | undefined> {
  const whenLoaded = sandbox.load(source);
  let slice = 0;
  while (slice < SLICES && !(await settlesWithin(whenLoaded, loadMs / SLICES))) slice += 1;
  if (slice === SLICES) {
    const isStarved = sandbox.waitedMs() >= loadMs * STARVED_SHARE;
    const message = `The component's code did not load within ${loadMs / 1000} s`;
    sandbox.kill(hostError(isStarved ? SANDBOX_LOST : "Timeout", message));
  }
  const loaded = await whenLoaded;
  return loaded.state === "failed" ? loaded.error : undefined;
}
