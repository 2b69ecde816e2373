import { format } from "node:util";
import type { Logger } from "./logger.ts";

/**
 * Turns what libraries print by themselves (BullMQ warns with `console.warn`, Node with process warnings) into lines of
 * the log, so that every line of a process is JSON.
 */
export function logConsole(log: Logger): void {
  const as =
    (level: "info" | "warn" | "error") =>
    (...values: unknown[]) =>
      log[level]({ from: "console" }, format(...values));
  Object.assign(console, { log: as("info"), info: as("info"), warn: as("warn"), error: as("error") });
  // Node's own listener prints them as text.
  process.removeAllListeners("warning");
  process.on("warning", warning => log.warn({ err: warning, from: "node" }, "process warning"));
}
