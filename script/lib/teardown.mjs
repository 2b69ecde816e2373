import { sendSignal } from "./processes.mjs";
import { closeStores } from "./stores.mjs";

// When each must have ended, counted from the first signal; the whole stop takes less than 10 s. The web process stops
// accepting first, workers finish their jobs, and the stores, which both need, go last.
const WEB_MS = 4000;
const WORKERS_MS = 7500;
const STORES_MS = 9500;

/**
 * Everything that a start has to end again. Its fields are filled in while the start goes on; it exists from the first
 * moment, because Ctrl-C may come at any time.
 */
export class Teardown {
  supervisor;
  /** Handles, see store-server.mjs. */
  stores = [];
  lock;
  /** Called with an error that ends a running start. */
  onFatal = () => {};
  #keepStores;
  #say;

  constructor({ keepStores, say }) {
    this.#keepStores = keepStores;
    this.#say = say;
  }

  async stopEverything() {
    const { supervisor } = this;
    const startedAt = Date.now();
    const left = untilMs => startedAt + untilMs - Date.now();
    if (supervisor) {
      await supervisor.stop("web", left(WEB_MS));
      const workers = supervisor.names().filter(name => name !== "web");
      await Promise.all(workers.map(name => supervisor.stop(name, left(WORKERS_MS))));
    }
    if (!this.#keepStores) await closeStores(this.stores, left(STORES_MS));
    this.lock?.release();
    if (supervisor) this.#say("Stopped.");
  }

  killEverything() {
    this.supervisor?.killAll();
    if (!this.#keepStores) {
      for (const { pid, isAlive } of this.stores) if (isAlive()) sendSignal(pid, "SIGKILL");
    }
    this.lock?.release();
  }
}
