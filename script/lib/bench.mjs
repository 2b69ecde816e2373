import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildIfStale } from "./build.mjs";
import { runScript } from "./complaint.mjs";
import { installDependencies } from "./dependencies.mjs";
import { withOwnStores } from "./own-stores.mjs";

const HELP = `Usage: script/bench        (npm run bench)

Measures ingress, a warm run, events from request to webhook, and pages of a long list, on a MongoDB and a Redis of their own. Each figure
stands beside a baseline of the same run, since machines differ and are noisy. Takes about a minute.`;

async function main() {
  if (process.argv.includes("--help")) return console.log(HELP);
  const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
  const given = { root, say: console.log, signal: new AbortController().signal };
  await installDependencies(given);
  await buildIfStale(given);
  let code = 1;
  await withOwnStores({ ...given, given: {} }, async ({ mongodbUrl, redisUrl }) => {
    const child = spawn(process.execPath, ["--import", "tsx", join(root, "bench/main.ts")], {
      cwd: root,
      env: { ...process.env, TEST_MONGODB_URL: mongodbUrl, TEST_REDIS_URL: redisUrl },
      stdio: "inherit",
    });
    code = await new Promise(resolve => child.once("exit", exit => resolve(exit ?? 1)));
  });
  return code;
}

await runScript(main);
