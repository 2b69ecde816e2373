import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { withOwnStores } from "./own-stores.mjs";
import { runScript } from "./user-error.mjs";

/** Runs bench/ways.ts, which prints the files on each way, with stores of its own; returns its exit code. */
async function main() {
  const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
  const ending = new AbortController();
  const { signal } = ending;
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(name, () => ending.abort());
  const given = { root, given: {}, isInMemory: true, say: console.error, signal };
  let code = 1;
  await withOwnStores(given, async ({ mongodbUrl, redisUrl }) => {
    const child = spawn(process.execPath, ["--import", "tsx", join(root, "bench/ways.ts")], {
      cwd: root,
      // test/support reads these names.
      env: {
        ...process.env,
        TEST_MONGODB_URL: mongodbUrl,
        TEST_REDIS_URL: redisUrl,
        TEST_STORES_ARE_REMOVED: "1",
      },
      stdio: "inherit",
    });
    signal.addEventListener("abort", () => child.kill("SIGTERM"), { once: true });
    code = await new Promise(resolve => child.once("exit", exit => resolve(exit ?? 1)));
  });
  return code;
}

await runScript(main);
