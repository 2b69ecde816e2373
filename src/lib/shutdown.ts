import { Worker } from "node:worker_threads";
import type { Logger } from "./logger.ts";

/** A stop takes at most 10 s in all; jobs that have not ended by then stall, and another worker starts them again. */
export const STOPS_WITHIN_MS = 9_000;

/** Between the end that this thread would give the process and the one that does not need it. */
const GUARD_MS = 500;

/**
 * Ends the process in order on SIGTERM, on SIGINT, or when the script that started it has exited. `stop` is called once; if
 * it hangs, the process exits after `withinMs`, and is killed half a second later if this thread does not even do that.
 */
export function onShutdown(log: Logger, stop: () => Promise<void>, withinMs = STOPS_WITHIN_MS): void {
  let stopping = false;
  const end = (reason: string) => {
    if (stopping) return;
    stopping = true;
    killAfter(withinMs + GUARD_MS);
    log.info({ reason }, "stopping");
    setTimeout(() => {
      log.warn("did not stop in time");
      process.exit(1);
    }, withinMs).unref();
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

/** A thread of its own, because this one may be the reason why the process does not end. */
function killAfter(ms: number): void {
  const code = `setTimeout(() => process.kill(process.pid, "SIGKILL"), ${ms})`;
  const guard = new Worker(code, { eval: true, execArgv: [] });
  guard.on("error", () => undefined);
  guard.unref();
}
