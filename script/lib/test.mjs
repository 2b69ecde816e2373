import { spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildIfStale } from "./build.mjs";
import { runScript } from "./user-error.mjs";
import { installDependencies } from "./dependencies.mjs";
import { withOwnStores } from "./own-stores.mjs";
import { namesFiles, needsStores, testFiles } from "./test-files.mjs";

const HELP = `Usage: script/test [files] [mocha options]        (npm test)

Runs the tests, all of them when no files are named, on a fresh clone too: with dependencies and build where out of
date, and with a MongoDB and a Redis of their own that are gone afterwards. The last line counts the tests.

  script/test                                  everything
  script/test test/store/ids.test.ts           one file
  script/test -g "same id"                     every test whose name holds these words
  script/test --unit                           only the files that need no store, and no store is started

TEST_MONGODB_URL (else MONGODB_URL) and TEST_REDIS_URL (else REDIS_URL) name stores to use instead; every test works
in a database and under a key prefix of its own.`;

async function main() {
  const args = process.argv.slice(2);
  if (args.includes("--help")) return console.log(HELP);
  const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
  const { signal, forward } = catchSignals();
  const given = { root, say: console.log, signal };
  try {
    await installDependencies(given);
    await buildIfStale(given);
    return await (args.includes("--unit") ? runUnit(given, args, forward) : runAll(given, args, forward));
  } catch (error) {
    if (signal.aborted) return 130;
    throw error;
  }
}

async function runAll({ root, say, signal }, args, forward) {
  const { env } = process;
  const given = {
    mongodbUrl: env.TEST_MONGODB_URL || env.MONGODB_URL,
    redisUrl: env.TEST_REDIS_URL || env.REDIS_URL,
  };
  const files = namesFiles(args) ? [] : testFiles(root);
  let result;
  await withOwnStores({ root, given, say, signal }, async ({ mongodbUrl, redisUrl }, folder) => {
    // The plain names too: processes that tests start must never fall back on .data/dev.env.
    const stores = {
      ...{ TEST_MONGODB_URL: mongodbUrl, MONGODB_URL: mongodbUrl },
      ...{ TEST_REDIS_URL: redisUrl, REDIS_URL: redisUrl },
    };
    result = await runMocha({ root, args: [...args, ...files], env: stores, folder, forward });
  });
  return lastLine(result);
}

async function runUnit({ root, say, signal }, args, forward) {
  const files = testFiles(root).filter(file => !needsStores(root, file));
  const rest = args.filter(arg => arg !== "--unit");
  const unused = { mongodbUrl: "mongodb://127.0.0.1:1/", redisUrl: "redis://127.0.0.1:1" };
  say(`${files.length} test files need no store.`);
  signal.throwIfAborted();
  const env = { MONGODB_URL: unused.mongodbUrl, REDIS_URL: unused.redisUrl };
  return lastLine(
    await runMocha({ root, args: [...rest, ...files], env, folder: join(root, ".cache"), forward }),
  );
}

/** Runs mocha in one process and gives its exit code and counts; no counts mean that it never came to the tests. */
async function runMocha({ root, args, env, folder, forward }) {
  const counts = join(folder, `counts-${process.pid}.json`);
  const mocha = join(root, "node_modules/mocha/lib/cli/cli.js");
  const ours = [
    "--reporter",
    join(root, "script/lib/reporter.cjs"),
    ...(process.env.CI ? ["--forbid-only"] : []),
  ];
  const child = spawn(process.execPath, ["--import", "tsx", mocha, ...ours, ...args], {
    cwd: root,
    env: { ...process.env, ...env, HEADWATER_TEST_COUNTS: counts },
    stdio: ["ignore", "inherit", "inherit"],
  });
  forward(child);
  const code = await new Promise(resolve => child.once("exit", exit => resolve(exit ?? 1)));
  return { code, ...readCounts(counts) };
}

function readCounts(file) {
  try {
    const counts = JSON.parse(readFileSync(file, "utf8"));
    rmSync(file);
    return counts;
  } catch {
    return { passed: 0, failed: 0, skipped: 0 };
  }
}

/** Prints the line that ends every run and gives the exit code. */
function lastLine({ code, passed, failed, skipped }) {
  // Mocha fails without a failed test too: a file that can't be loaded, `.only` in CI, something left open.
  const failures = code !== 0 && failed === 0 ? 1 : failed;
  console.log(`${passed} passed, ${failures} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
  return failures > 0 ? 1 : 0;
}

/** Ctrl-C ends mocha, and then, as after every run, the stores; pressed again it kills mocha. */
function catchSignals() {
  const ending = new AbortController();
  let child;
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(name, () => {
      child?.kill(ending.signal.aborted ? "SIGKILL" : name);
      ending.abort();
    });
  }
  return {
    signal: ending.signal,
    forward: started => {
      child = started;
    },
  };
}

await runScript(main);
