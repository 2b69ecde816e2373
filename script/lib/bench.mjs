import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildIfStale } from "./build.mjs";
import { installDependencies } from "./dependencies.mjs";
import { withOwnStores } from "./own-stores.mjs";
import { readPid } from "./processes.mjs";
import { runScript, UserError } from "./user-error.mjs";

/** The file that each first word runs; all other arguments are for `bench/main.ts`. */
const PARTS = {
  accept: "bench/accept.ts",
  agents: "bench/agents.ts",
  capacity: "bench/capacity-check.ts",
  keys: "bench/keys.ts",
  lists: "bench/lists.ts",
  memory: "bench/memory.ts",
  runs: "bench/runs.ts",
  saves: "bench/saves.ts",
  shards: "bench/shards.ts",
  verify: "bench/verify.ts",
};

async function main() {
  const [first = "", ...rest] = process.argv.slice(2);
  const part = PARTS[first];
  const file = part ?? "bench/main.ts";
  const args = part ? rest : process.argv.slice(2);
  const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
  if (process.platform !== "linux")
    throw new UserError("the benchmarks read /proc, which only Linux has: run them there");
  const ending = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(name, () => ending.abort());
  const given = { root, say: console.log, signal: ending.signal };
  await installDependencies(given);
  // With `--redis`, it reads an installation that runs.
  if (args.includes("--help") || args.includes("--redis"))
    return await runPart(root, file, args, {}, ending.signal);
  await buildIfStale(given);
  let code = 1;
  await withOwnStores({ ...given, given: {} }, async ({ mongodbUrl, redisUrl }, folder) => {
    const env = {
      ...{ BENCH_MONGODB_URL: mongodbUrl, BENCH_REDIS_URL: redisUrl },
      BENCH_MONGODB_PID: String(readPid(join(folder, "mongo.pid"))),
      BENCH_REDIS_PID: String(readPid(join(folder, "redis.pid"))),
      // test/support reads these names.
      ...{ TEST_MONGODB_URL: mongodbUrl, TEST_REDIS_URL: redisUrl },
    };
    code = await runPart(root, file, args, env, ending.signal);
  });
  return code;
}

/** Runs one benchmark and returns its exit code. A signal ends the benchmark first, and then the stores. */
async function runPart(root, file, args, env, signal) {
  const child = spawn(process.execPath, ["--import", "tsx", join(root, file), ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: "inherit",
  });
  signal.addEventListener("abort", () => child.kill("SIGTERM"), { once: true });
  return await new Promise(resolve => child.once("exit", exit => resolve(exit ?? 1)));
}

await runScript(main);
