import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildIfStale } from "./build.mjs";
import { installDependencies } from "./dependencies.mjs";
import { withOwnStores } from "./own-stores.mjs";
import { cpuMs, readPid } from "./processes.mjs";
import { isUnitTest, partOf, runsAlone, selectFiles } from "./test-files.mjs";
import { runTestFiles } from "./test-runner.mjs";
import { runScript, UserError } from "./user-error.mjs";

const HELP = `Usage: script/test [files] [options] [mocha options]        (npm test)

Runs the tests: those named, or all but the long ones, which take minutes. Works on a fresh clone: it installs the dependencies and builds if
either is out of date, and starts a MongoDB and a Redis that are removed afterwards. The last line counts the tests.

  script/test                                  everything but the long files              (npm test)
  script/test --long                           the long files                             (npm run test:long)
  script/test test/store/ids.test.ts           one file; a folder, or any part of a path, works too
  script/test -g "same id"                     every test whose name contains these words
  script/test test/http --watch                runs again whenever a file is saved        (npm run test:watch)
  script/test test/lib/ids.test.ts --inspect-brk   waits for a debugger

  --unit      only the files that need no store, sandbox or other process; no store is started
  --long      only the files with a line "// runs-long: <what of it is in npm test>", and the tests whose titles end with "@long"
  --jobs N    test files that run at the same time (default: three more than there are CPUs, with --long one, up to 6)
  --rerun     runs up to twelve files that failed once more, alone; the second result counts, and is listed as flaky
  --times     lists the slowest files, with their CPU time
  --watch     keeps the stores running and runs the named files again when a file in src/, workers/ or test/ changes

TEST_MONGODB_URL (or MONGODB_URL) and TEST_REDIS_URL (or REDIS_URL) name stores to use instead; every test has its own
database and key prefix. A file with a line "// runs-alone: <reason>" runs after the others, one at a time.`;

/** Most files spend more than half of their time waiting; what `--long` runs floods the machine or measures it. */
const JOBS_ABOVE_CPUS = 3;
const MAX_JOBS = 6;
const SLOWEST_SHOWN = 60;
/** These need mocha's own command line, with all files in one process. */
const ONLY_IN_MOCHA = /^--(?:inspect|watch|reporter|debug)/;

async function main() {
  const args = process.argv.slice(2);
  if (args.includes("--help")) return console.log(HELP);
  const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
  const { signal, forward } = catchSignals();
  const given = { root, say: console.log, signal };
  try {
    await installDependencies(given);
    await buildIfStale(given);
    return await runTests(given, args, forward);
  } catch (error) {
    if (signal.aborted) return 130;
    throw error;
  }
}

async function runTests(given, args, forward) {
  const { root, say } = given;
  const isUnit = takeFlag(args, "--unit");
  const isLong = takeFlag(args, "--long");
  const further = isLong ? 1 : JOBS_ABOVE_CPUS;
  const jobs = takeNumber(args, "--jobs") ?? Math.min(availableParallelism() + further, MAX_JOBS);
  const showTimes = takeFlag(args, "--times");
  const rerun = takeFlag(args, "--rerun");
  const { _: words, ...options } = await mochaOptions(args);
  // Words and names of tests find long ones too.
  const isNamed = words.length > 0 || options.grep !== undefined || options.fgrep !== undefined;
  const part = file => (isLong || !isNamed ? partOf(root, file, isLong) : {});
  const selected = selectFiles(root, words)
    .filter(file => !isUnit || isUnitTest(root, file))
    .filter(file => part(file) !== undefined);
  if (isUnit) say(`${selected.length} test files need no store, sandbox or other process.`);
  const startedAt = Date.now();
  return withStores(given, isUnit, async (env, storesFolder) => {
    const ownMocha = args.filter(arg => arg.startsWith("-"));
    if (ownMocha.some(arg => ONLY_IN_MOCHA.test(arg))) {
      return runMocha({
        root,
        args: [...args.filter(arg => !words.includes(arg)), ...selected],
        env,
        forward,
      });
    }
    const alone = isUnit || selected.length === 1 ? [] : selected.filter(file => runsAlone(root, file));
    const files = selected.filter(file => !alone.includes(file));
    const optionsOf = file => ({ ...options, ...part(file) });
    const result = await runTestFiles({ ...given, files, alone, jobs, options, optionsOf, env, rerun });
    if (showTimes) say(slowest(result.files) + cpuOfStores(storesFolder));
    const seconds = (Date.now() - startedAt) / 1000;
    if (!isUnit && !isLong && !isNamed && !given.signal.aborted) recordTime(root, seconds, files.length);
    return lastLine(result, { say, seconds, signal: given.signal });
  });
}

/** What the arguments mean to mocha, with what .mocharc.json says; `_` are the words that are not options. */
async function mochaOptions(args) {
  const { loadOptions } = (await import("mocha/lib/cli/options.cjs")).default;
  return { ...loadOptions(args), ...(process.env.CI && { forbidOnly: true }) };
}

function takeFlag(args, name) {
  const at = args.indexOf(name);
  if (at < 0) return false;
  args.splice(at, 1);
  return true;
}

function takeNumber(args, name) {
  const at = args.findIndex(arg => arg === name || arg.startsWith(`${name}=`));
  if (at < 0) return undefined;
  const [first, second] = args[at].includes("=") ? args.splice(at, 1) : args.splice(at, 2);
  const value = first.split("=")[1] ?? second;
  if (!/^[1-9]\d*$/.test(value ?? "")) throw new UserError(`${name} must be a positive number`);
  return Number(value);
}

const NOWHERE = "127.0.0.1:1";

/** Calls `work` with the environment of tests: the addresses of stores, or for unit tests ones that nothing has. */
async function withStores({ root, say, signal }, isUnit, work) {
  const { env } = process;
  const npm = {
    // Tests bring their own registry; one that forgets to must fail everywhere, not only without a network.
    npm_config_registry: `http://${NOWHERE}/`,
    ...(env.npm_config_registry && { HEADWATER_PUBLIC_REGISTRY: env.npm_config_registry }),
  };
  if (isUnit) return work({ MONGODB_URL: `mongodb://${NOWHERE}/`, REDIS_URL: `redis://${NOWHERE}`, ...npm });
  const given = {
    mongodbUrl: env.TEST_MONGODB_URL || env.MONGODB_URL,
    redisUrl: env.TEST_REDIS_URL || env.REDIS_URL,
  };
  let code;
  await withOwnStores(
    { root, given, isInMemory: true, say, signal },
    async ({ mongodbUrl, redisUrl }, folder) => {
      // The plain names too: processes that tests start must never fall back on .data/dev.env.
      const addresses = {
        ...{ TEST_MONGODB_URL: mongodbUrl, MONGODB_URL: mongodbUrl },
        ...{ TEST_REDIS_URL: redisUrl, REDIS_URL: redisUrl },
      };
      const own = given.mongodbUrl ? {} : { TEST_STORES_ARE_REMOVED: "true" };
      code = await work({ ...addresses, ...own, ...npm }, folder);
    },
  );
  return code;
}

/** Runs mocha's own command line on all files in one process and returns its exit code. */
async function runMocha({ root, args, env, forward }) {
  const mocha = join(root, "node_modules/mocha/lib/cli/cli.js");
  const watched = args.includes("--watch") ? ["--watch-files", "src/**,workers/**,test/**"] : [];
  const child = spawn(process.execPath, ["--import", "tsx", mocha, ...watched, ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: "inherit",
  });
  forward(child);
  return new Promise(resolve => child.once("exit", exit => resolve(exit ?? 1)));
}

/** The slowest files, one a line. */
function slowest(files) {
  const seconds = ms => (ms / 1000).toFixed(1).padStart(6);
  const total = key => files.reduce((sum, { cpuMs }) => sum + cpuMs[key], 0);
  const lines = [...files]
    .sort((a, b) => b.wallMs - a.wallMs)
    .slice(0, SLOWEST_SHOWN)
    .map(
      ({ file, wallMs, cpuMs }) =>
        `${seconds(wallMs)} ${seconds(cpuMs.self)} ${seconds(cpuMs.children)}  ${file}`,
    );
  return [
    "\n  wall    cpu  cpu of processes it started (seconds)",
    ...lines,
    `       ${seconds(total("self"))} ${seconds(total("children"))}  all ${files.length} files`,
  ].join("\n");
}

/** A line with the CPU time of the stores that were started for this run; empty for a unit test. */
function cpuOfStores(folder) {
  if (folder === undefined) return "";
  const seconds = name => (cpuMs(readPid(join(folder, `${name}.pid`))).self / 1000).toFixed(1);
  return `\n       MongoDB ${seconds("mongo")}, Redis ${seconds("redis")}`;
}

/** Keeps the time of a whole `npm test` for `npm run house`. */
function recordTime(root, seconds, files) {
  mkdirSync(join(root, ".cache"), { recursive: true });
  const text = JSON.stringify({ seconds: Math.round(seconds), files, at: new Date().toISOString() });
  writeFileSync(join(root, ".cache/test-suite.json"), `${text}\n`);
}

/** Prints the line that ends every run, alone, and returns the exit code. */
function lastLine({ passed, failed, skipped, flaky, files }, { say, seconds, signal }) {
  say(`\n${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`);
  const failedFiles = files.filter(({ tests }) => tests.failed > 0);
  if (failedFiles.length > 0) say(`failed: ${failedFiles.map(({ file }) => file).join(", ")}`);
  if (flaky.length > 0) say(`flaky, passed when run again alone: ${flaky.join(", ")}`);
  say(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
  if (signal.aborted) return 130;
  return failed > 0 || passed + skipped === 0 ? 1 : 0;
}

/** Ctrl-C ends the tests, and then, as after every run, the stores; pressed again it kills the test process. */
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
