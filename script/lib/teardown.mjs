import { sendSignal } from "./processes.mjs";
import { closeStores } from "./stores.mjs";

// When each must have ended, counted from the first signal; all of it takes under 10 s. Web stops accepting first,
// workers finish what they can, the stores they need go last.
const WEB_MS = 4000;
const WORKERS_MS = 7500;
const STORES_MS = 9500;

/**
 * What a start has to end again, filled in while it starts: `supervisor`, `stores` (handles) and `lock`. It is there
 * from the first moment, since Ctrl-C may come at any.
 */
export function createTeardown({ keepStores, say }) {
  const teardown = {
    supervisor: undefined,
    stores: [],
    lock: undefined,
    onFatal: () => {},
    async stopEverything() {
      const { supervisor, stores, lock } = teardown;
      const startedAt = Date.now();
      const left = untilMs => startedAt + untilMs - Date.now();
      if (supervisor) {
        await supervisor.stop("web", left(WEB_MS));
        const workers = supervisor.names().filter(name => name !== "web");
        await Promise.all(workers.map(name => supervisor.stop(name, left(WORKERS_MS))));
      }
      if (!keepStores) await closeStores(stores, left(STORES_MS));
      lock?.release();
      if (supervisor) say("Stopped.");
    },
    killEverything() {
      teardown.supervisor?.killAll();
      if (!keepStores)
        for (const { pid, isAlive } of teardown.stores) if (isAlive()) sendSignal(pid, "SIGKILL");
      teardown.lock?.release();
    },
  };
  return teardown;
}
