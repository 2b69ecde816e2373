/**
 * One worker of `npm test`: runs the test files that its parent sends, one after another, with mocha in this process.
 * The parent sends `{file, options}` for each file and gets `{tests, output, failures, wallMs, cpuMs}` back; `{end}`
 * closes the channel, and then this process must end by itself.
 */
import { format } from "node:util";
import Mocha from "mocha";
import { cpuMs } from "./processes.mjs";

/** How long a clean end may take. */
const HANG_MS = 60_000;

const { Base, Spec } = Mocha.reporters;
const print = Base.consoleLog;
let runner;
let hasEnded = false;

/** Mocha's spec output without its last lines: the parent counts over all files. */
class WorkerReporter extends Spec {
  epilogue() {}
}

// Another object would leave the real environment as it is, for all files that run here later (test/support/environment.ts).
Object.defineProperty(process, "env", { value: process.env, writable: false });

process.on("message", message => {
  if (message.end) return end();
  void runFile(message).then(result => process.send(result));
});
// Mocha runs the hooks that are left and reports; a second signal from the parent is SIGKILL.
for (const name of ["SIGINT", "SIGTERM"]) process.on(name, () => runner?.abort());
process.on("disconnect", () => {
  // The parent was killed.
  if (!hasEnded) process.exit(1);
});

async function runFile({ file, options }) {
  const lines = [];
  Base.consoleLog = options.isLive ? print : (...args) => lines.push(format(...args));
  const startedAt = Date.now();
  const cpuBefore = cpuUsed();
  const { stats, failures } = await runMocha(file, options);
  const cpuAfter = cpuUsed();
  const output = lines.splice(0).join("\n");
  Base.consoleLog = (...args) => lines.push(format(...args));
  if (failures.length > 0) Base.list(failures);
  return {
    tests: { passed: stats.passes, failed: stats.failures, skipped: stats.pending },
    output,
    failures: lines.join("\n"),
    wallMs: Date.now() - startedAt,
    cpuMs: { self: cpuAfter.self - cpuBefore.self, children: cpuAfter.children - cpuBefore.children },
  };
}

async function runMocha(file, options) {
  const mocha = new Mocha({ ...options, reporter: WorkerReporter });
  mocha.addFile(file);
  try {
    await mocha.loadFilesAsync();
  } catch (error) {
    return cannotRun(error);
  }
  return new Promise(resolve => {
    const failures = [];
    try {
      runner = mocha.run(() => {
        const { stats } = runner;
        runner = undefined;
        resolve({ stats, failures });
      });
      runner.on("fail", test => failures.push(test));
    } catch (error) {
      // `.only` in CI
      resolve(cannotRun(error));
    }
  });
}

function cannotRun(error) {
  const failure = { titlePath: () => ["the file can't be run"], err: error };
  return { stats: { passes: 0, failures: 1, pending: 0 }, failures: [failure] };
}

/** CPU milliseconds of this process, and of its children that have ended. */
function cpuUsed() {
  const { user, system } = process.cpuUsage();
  return { ...cpuMs(process.pid), self: Math.round((user + system) / 1000) };
}

function end() {
  hasEnded = true;
  process.disconnect();
  // An open handle would keep the process alive; unref'd, this timer is not one of them.
  setTimeout(() => {
    const open = process.getActiveResourcesInfo().join(", ");
    console.error(`The tests ended ${HANG_MS / 1000} s ago and something is still open: ${open}`);
    process.exit(1);
  }, HANG_MS).unref();
}
