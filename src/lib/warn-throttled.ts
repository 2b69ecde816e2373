import type { Logger } from "pino";

/** A lost connection fails every second; one line in ten seconds says as much. */
const THROTTLE_MS = 10_000;

/** Returns a function that logs an error at once, and later ones at most every 10 s, with how many were left out. */
export function warnThrottled(
  log: Logger,
  message: string,
  fields: Record<string, unknown> = {},
): (error: unknown) => void {
  let nextAtMs = 0;
  let suppressed = 0;
  return error => {
    if (Date.now() < nextAtMs) {
      suppressed += 1;
      return;
    }
    log.warn({ ...fields, err: error, ...(suppressed > 0 && { suppressed }) }, message);
    nextAtMs = Date.now() + THROTTLE_MS;
    suppressed = 0;
  };
}
