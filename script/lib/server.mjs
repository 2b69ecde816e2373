import { fileURLToPath } from "node:url";
import { Complaint, runScript } from "./complaint.mjs";
import { startEverything } from "./start.mjs";
import { createTeardown } from "./teardown.mjs";

const HELP = `Usage: script/server [--keep-stores]        (npm start)

Starts all of Headwater for development, on a fresh clone too:
dependencies and build where out of date, MongoDB and Redis, the web process and every worker of the Procfile.
The last line says that everything is ready, and where. Ctrl-C stops it all; a second Ctrl-C kills it.

Settings come from the environment, then from .env. With none at all:
  PORT          3000; 0 takes any free port
  REDIS_URL     unset: redis-server from the PATH, else (root on Debian) apt-get installs it
  MONGODB_URL   unset: mongod from the PATH, else (Linux x64) a pinned one, fetched once into .cache/
What a start uses and makes (keys, password, ports, data) is kept in .data/; remove it to begin anew.

  --keep-stores  leaves MongoDB and Redis running at the end; the next start uses them`;

// npm passes the terminal's Ctrl-C on, so that one key press arrives twice.
const SAME_PRESS_MS = 500;

async function main() {
  const args = process.argv.slice(2);
  if (args.includes("--help")) return console.log(HELP);
  const unknown = args.find(arg => arg !== "--keep-stores");
  if (unknown) throw new Complaint(`script/server knows no ${unknown}: see script/server --help`);
  const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
  const teardown = createTeardown({ keepStores: args.includes("--keep-stores"), say: console.log });
  const ending = new AbortController();
  const fatal = new Promise((_, reject) => {
    teardown.onFatal = reject;
  });
  const stopped = new Promise(resolve => ending.signal.addEventListener("abort", resolve, { once: true }));
  listenToSignals(ending, teardown);
  try {
    await Promise.race([startEverything({ root, teardown, signal: ending.signal }), fatal, stopped]);
    await Promise.race([fatal, stopped]);
  } catch (error) {
    if (!ending.signal.aborted) throw error;
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
        console.log("\nStopping ... (once more kills at once)");
        ending.abort();
      } else if (Date.now() - firstAt > SAME_PRESS_MS) {
        teardown.killEverything();
        process.exit(130);
      }
    });
  }
}

await runScript(main);
