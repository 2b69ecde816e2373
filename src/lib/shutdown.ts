import type { Logger } from "./logger.ts";

/** A stop takes at most 10 s in all; jobs that have not ended by then stall, and another worker starts them again. */
export const STOPS_WITHIN_MS = 9_000;

/**
 * Ends the process in order on SIGTERM, on SIGINT, or when the script that started it has exited. `stop` is called once; if
 * it hangs, the process exits anyway.
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
    }, STOPS_WITHIN_MS).unref();
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
  process.on("disconnect", () => end("parent exited"));
}
