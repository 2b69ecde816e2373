import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { serve } from "./serve.mjs";
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

const OPTIONS = ["--processes", "--watch", "--keep-stores"];

async function main() {
  const args = process.argv.slice(2);
  if (args.includes("--help")) return console.log(HELP);
  const unknown = args.find(arg => !OPTIONS.includes(arg));
  if (unknown) throw new UserError(`unknown argument ${unknown}: see script/server --help`);
  const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
  await serve({ root, folder: join(root, ".data"), args });
}

await runScript(main);
