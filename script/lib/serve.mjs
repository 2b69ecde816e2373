import { procfileFor } from "./procfile.mjs";
import { startEverything } from "./start.mjs";
import { Teardown } from "./teardown.mjs";

// npm passes the terminal's Ctrl-C on, so that one key press arrives twice.
const SAME_PRESS_MS = 500;

/**
 * Starts everything of the checkout or the installed package in `root`, with its data in `folder`, and stops it after a signal.
 * `args`: those of script/server. Throws UserError.
 */
export async function serve({ root, folder, args }) {
  const teardown = new Teardown({ keepStores: args.includes("--keep-stores"), say: console.log });
  const ending = new AbortController();
  const { signal } = ending;
  const fatal = new Promise((_, reject) => {
    teardown.onFatal = reject;
  });
  const stopped = new Promise(resolve => signal.addEventListener("abort", resolve, { once: true }));
  listenToSignals(ending, teardown);
  try {
    const procfile = procfileFor(args);
    const started = startEverything({
      root,
      folder,
      procfile,
      teardown,
      signal,
      isWatching: args.includes("--watch"),
    });
    await Promise.race([started, fatal, stopped]);
    await Promise.race([fatal, stopped]);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    ending.abort();
    await teardown.stopEverything();
  }
}

function listenToSignals(ending, teardown) {
  let firstAt = 0;
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(name, () => {
      firstAt ||= Date.now();
      if (!ending.signal.aborted) {
        console.log("\nStopping ... (press again to kill)");
        ending.abort();
      } else if (Date.now() - firstAt > SAME_PRESS_MS) {
        teardown.killEverything();
        process.exit(130);
      }
    });
  }
}
