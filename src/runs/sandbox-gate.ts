import type { Sandboxed, Stores } from "../platform.ts";
import type { PausableWorker } from "../queues/run-worker.ts";

/** How long a worker that can't start sandboxes waits before it tries again. */
const RETRY_MS = 2000;
const PROBE = { hash: "probe", code: `export default { name: "Probe", version: "0.0.1", run() {} };` };

/**
 * Makes a worker take no jobs while it can't start sandboxes: otherwise it would take, and return, the runs that other
 * workers could execute. It starts a sandbox of its own until that succeeds. Returns the function that stops this.
 */
export function pauseWithoutSandboxes(platform: Stores & Sandboxed, worker: PausableWorker): () => void {
  const { sandboxHealth, log } = platform;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  const probe = async () => {
    await platform
      .sandboxes()
      .then(
        sandboxes => sandboxes.describe(PROBE),
        () => undefined,
      )
      .catch(() => undefined);
    if (isStopped) return;
    if (sandboxHealth.problem !== undefined) {
      timer = setTimeout(() => void probe(), RETRY_MS);
      return;
    }
    log.info("sandboxes can be started again; taking jobs");
    worker.resume();
  };
  sandboxHealth.whenUnhealthy(() => {
    if (isStopped) return;
    log.error({ reason: sandboxHealth.problem }, "sandboxes can't be started; taking no jobs");
    worker.pause();
    timer = setTimeout(() => void probe(), RETRY_MS);
  });
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
