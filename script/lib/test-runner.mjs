import { fork } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { longestFirst } from "./test-files.mjs";

const WORKER = fileURLToPath(new URL("test-worker.mjs", import.meta.url));
const DURATIONS = ".cache/test-durations.json";
const RERUN_FILES = 12;

/**
 * Runs test files in a few worker processes, the longest first, and prints each file's output when the file is done
 * (at once with one worker). `alone` are run after all the others, one at a time.
 *
 * Takes `{root, files, alone, jobs, options, optionsOf, env, say, signal, rerun}`; `options` are mocha's, and `optionsOf` returns those of a
 * file. Returns `{passed, failed,
 * skipped, flaky, files: [{file, wallMs, cpuMs}]}`. A file that ends its worker, and a worker that does not end by
 * itself, count as one failed test each.
 *
 * With `rerun`, up to RERUN_FILES files that failed run once more at the end, one at a time, and the second result
 * counts. `flaky` are those that passed then; they are listed with what failed first. If more files failed, it is not
 * chance, and none runs again.
 */
export async function runTestFiles(given) {
  const { root, files, alone, jobs, say } = given;
  const durations = readDurations(root);
  const run = { ...given, results: [], failures: [], isOver: () => isOver(run) };
  const workers = Math.min(jobs, files.length);
  await runPhase(run, longestFirst(files, durations), workers);
  if (alone.length > 0 && !run.isOver()) {
    if (files.length > 0) say(`\n${alone.length} files that need the machine to themselves:`);
    await runPhase(run, longestFirst(alone, durations), 1);
  }
  if (run.failures.length > 0) say(`\n${run.failures.join("\n")}`);
  const flaky = given.rerun ? await rerunFailed(run) : [];
  writeDurations(root, {
    ...durations,
    ...Object.fromEntries(run.results.map(one => [one.file, one.wallMs])),
  });
  const sum = name => run.results.reduce((total, one) => total + one.tests[name], 0);
  return { passed: sum("passed"), failed: sum("failed"), skipped: sum("skipped"), flaky, files: run.results };
}

async function rerunFailed(run) {
  const failed = run.results.filter(({ tests }) => tests.failed > 0).map(({ file }) => file);
  const files = failed.filter(file => run.files.includes(file) || run.alone.includes(file));
  if (files.length === 0 || files.length > RERUN_FILES) return [];
  if (run.isOver()) return [];
  run.say(`\n${files.length} of the files failed and run once more, alone:`);
  run.failures = [];
  run.results = run.results.filter(({ file }) => !files.includes(file));
  await runPhase(run, files, 1);
  if (run.failures.length > 0) run.say(`\n${run.failures.join("\n")}`);
  return files.filter(file => !run.results.some(one => one.file === file && one.tests.failed > 0));
}

const isOver = ({ signal, options, results }) =>
  signal.aborted || (options.bail === true && results.some(({ tests }) => tests.failed > 0));

async function runPhase(run, files, workers) {
  const queue = [...files];
  await Promise.all(Array.from({ length: workers }, () => work(run, queue, workers === 1)));
}

/** One worker at a time takes files from the queue until none is left; one that ended itself is replaced. */
async function work(run, queue, isLive) {
  let worker;
  let hasFailed = false;
  while (queue.length > 0 && !run.isOver()) {
    worker ??= startWorker(run, isLive);
    const file = queue.shift();
    const result = await worker.run(file);
    report(run, file, result);
    hasFailed ||= result.tests.failed > 0;
    if (result.isCrash) worker = undefined;
  }
  const problem = await worker?.end();
  // What a failed test left open does not count as another failure.
  if (problem && !hasFailed) report(run, "the end of a worker", failure(problem));
}

function startWorker({ root, env, options, optionsOf = () => options, signal }, isLive) {
  const child = fork(WORKER, {
    cwd: root,
    env: { ...process.env, ...env },
    execArgv: ["--import", "tsx"],
    stdio: isLive ? ["ignore", "inherit", "inherit", "ipc"] : ["ignore", "pipe", "pipe", "ipc"],
  });
  // What tests and the code under test print themselves, beside the reporter.
  let noise = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", text => {
      noise += text;
    });
  }
  const takeNoise = () => {
    const text = noise.trimEnd();
    noise = "";
    return text;
  };
  const stop = () => child.kill("SIGTERM");
  signal.addEventListener("abort", stop, { once: true });
  let onCrash = () => {};
  const exited = new Promise(resolve => {
    child.once("exit", (code, name) => {
      signal.removeEventListener("abort", stop);
      onCrash(name ?? `code ${code}`);
      resolve(code);
    });
  });
  return {
    run(file) {
      return new Promise(resolve => {
        const settle = result => {
          onCrash = () => {};
          child.removeAllListeners("message");
          resolve({ noise: takeNoise(), ...result });
        };
        onCrash = how =>
          settle({ ...failure(`the test process ended in the middle of ${file} (${how})`), isCrash: true });
        child.once("message", settle);
        child.send({ file: join(root, file), options: { ...optionsOf(file), isLive } });
      });
    },
    /** Resolves with what went wrong, if anything did. */
    async end() {
      if (child.connected) child.send({ end: true });
      const code = await exited;
      return code === 0 || signal.aborted
        ? undefined
        : takeNoise() || `a test process ended with code ${code}`;
    },
  };
}

function failure(text) {
  return {
    tests: { passed: 0, failed: 1, skipped: 0 },
    output: "",
    failures: `  ${text}`,
    wallMs: 0,
    cpuMs: { self: 0, children: 0 },
  };
}

function report({ say, results, failures }, file, result) {
  for (const text of [result.noise, result.output]) if (text) say(text);
  if (result.failures) failures.push(`${file}\n${result.failures}`);
  results.push({ file, ...result });
}

function readDurations(root) {
  try {
    return JSON.parse(readFileSync(join(root, DURATIONS), "utf8"));
  } catch {
    return {};
  }
}

function writeDurations(root, durations) {
  const file = join(root, DURATIONS);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(durations, null, 2)}\n`);
}
