import type { Logger } from "./logger.ts";

/** The whole stop takes at most 10 s (issue: first start); what has not ended by then is found as stalled. */
const HARD_LIMIT_MS = 9_000;

/**
 * Ends the process in order on SIGTERM, SIGINT, or when the script that started it is gone. `stop` is called once;
 * a stop that hangs ends hard.
 */
export function onShutdown(log: Logger, stop: () => Promise<void>): void {
  let stopping = false;
  const end = (reason: string) => {
    if (stopping) return;
    stopping = true;
    log.info({ reason }, "stopping");
    setTimeout(() => {
      log.warn("did not stop in time");
      process.exit(1);
    }, HARD_LIMIT_MS).unref();
    stop().then(
      () => process.exit(0),
      error => {
        log.error({ err: error }, "while stopping");
        process.exit(1);
      },
    );
  };
  process.on("SIGTERM", () => end("SIGTERM"));
  process.on("SIGINT", () => end("SIGINT"));
  process.on("disconnect", () => end("parent is gone"));
}
