import { duration, type Finding, ok, problem } from "./finding.ts";

/** Headwater corrects any difference, but other programs and log files on this machine do not. */
const MAX_SKEW_MS = 1000;

/**
 * Compares this machine's clock with a store's. `readMs` returns the store's time in Unix milliseconds; half of the time
 * that it takes is the error of the comparison.
 */
export async function checkClockSkew(store: string, readMs: () => Promise<number>): Promise<Finding> {
  const beforeMs = Date.now();
  const storeMs = await readMs();
  const afterMs = Date.now();
  const aheadMs = Math.round((beforeMs + afterMs) / 2 - storeMs);
  const check = `clock of ${store}`;
  if (Math.abs(aheadMs) <= MAX_SKEW_MS + (afterMs - beforeMs) / 2)
    return ok(check, "agrees with this machine's");
  const direction = aheadMs > 0 ? "ahead of" : "behind";
  return problem(
    check,
    `this machine is ${duration(Math.abs(aheadMs))} ${direction} ${store}`,
    "synchronise the clocks of all machines, for example with chrony",
  );
}
