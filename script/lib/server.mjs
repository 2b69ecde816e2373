import { fileURLToPath } from "node:url";
import { procfileFor } from "./procfile.mjs";
import { startEverything } from "./start.mjs";
import { Teardown } from "./teardown.mjs";
import { runScript, UserError } from "./user-error.mjs";

const HELP = `Usage: script/server [--processes] [--watch] [--keep-stores]    (npm start; npm run dev is npm start -- --watch)

Starts all of Headwater for development. Works on a fresh clone: it installs the dependencies and builds if either is
out of date, and starts MongoDB, Redis, the web process and one process for all queues (Procfile.small). The last line
says that everything is ready, and where. Ctrl-C stops everything; a second Ctrl-C kills it.

  --processes    starts a worker process for each queue (Procfile), as a big installation does
  --watch        runs the processes from their sources and restarts those that a saved file in src/ or workers/ affects
                 (types are not checked: npm run typecheck)
  --keep-stores  leaves MongoDB and Redis running at the end; the next start uses them

Settings come from the environment, then from .env. None is required:
  PORT          3000 by default; 0 takes any free port
  REDIS_URL     if unset: redis-server or valkey-server from the PATH; as root on Debian, apt-get installs it if there is none;
                else a pinned Valkey, downloaded once into .cache/
  MONGODB_URL   if unset: mongod from the PATH, else a pinned one, downloaded once into .cache/
A start keeps its data, ports, keys and password in .data/; remove that folder to begin with nothing.`;

// npm passes the terminal's Ctrl-C on, so that one key press arrives twice.
const SAME_PRESS_MS = 500;
const OPTIONS = ["--processes", "--watch", "--keep-stores"];

async function main() {
  const args = process.argv.slice(2);
  if (args.includes("--help")) return console.log(HELP);
  const unknown = args.find(arg => !OPTIONS.includes(arg));
  if (unknown) throw new UserError(`unknown argument ${unknown}: see script/server --help`);
  const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
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

await runScript(main);
