import type { Logger } from "pino";

/** A connection that is away fails again each second; a line each ten says as much. */
const SELDOM_MS = 10_000;

/** Logs an error at once, and those that follow at most every 10 s, with how many were left out. */
export function warnSeldom(
  log: Logger,
  message: string,
  fields: Record<string, unknown> = {},
): (error: unknown) => void {
  let nextAtMs = 0;
  let unsaid = 0;
  return error => {
    if (Date.now() < nextAtMs) {
      unsaid += 1;
      return;
    }
    log.warn({ ...fields, err: error, ...(unsaid > 0 && { unsaid }) }, message);
    nextAtMs = Date.now() + SELDOM_MS;
    unsaid = 0;
  };
}
