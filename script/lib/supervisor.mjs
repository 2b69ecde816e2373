import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { Complaint } from "./complaint.mjs";
import { sendSignal, within } from "./processes.mjs";

const BACK_OFF_MS = [500, 1000, 2000, 4000, 10_000];
const GIVE_UP_DEATHS = 5;
const GIVE_UP_WITHIN_MS = 30_000;
const STEADY_MS = 60_000;
// sysexits' EX_CONFIG: the same settings will fail the same way, so starting again is only noise.
const BAD_SETTINGS = 78;
// With LOG_LEVEL above info no process says that it is ready; one that lives this long then counts as ready.
const QUIET_LEVELS = ["warn", "error", "fatal", "silent"];
const QUIET_MS = 3000;

/**
 * Runs the processes of the Procfile and starts again what dies.
 *
 * `print(name, line)` shows a line of a process, `say` one of ours, `onSpawn(name, pid)` is told every process, and
 * `onGiveUp(Complaint)` is called when a process can't be started: 5 deaths within 30 s before everything was ready.
 */
export function createSupervisor({ root, env, print, say, onSpawn, onGiveUp, backOffMs = BACK_OFF_MS }) {
  const entries = new Map();
  const isQuiet = QUIET_LEVELS.includes(env.LOG_LEVEL);
  let started = false;

  function start({ name, program, args }) {
    const entry = { name, program, args, deaths: [], ready: false, stopping: false };
    entries.set(name, entry);
    launch(entry);
  }

  function launch(entry) {
    const isNode = entry.program === "node";
    // What comes before it are options of node itself.
    const script = entry.args.findIndex(arg => !arg.startsWith("-"));
    // Absolute, so that the command line tells whose process it is (see lock.mjs).
    const args = entry.args.map((arg, i) => (isNode && i === script ? resolve(root, arg) : arg));
    // A group of its own keeps the terminal's Ctrl-C away; the ipc channel tells the child when we are gone.
    const stdio = ["ignore", "pipe", "pipe", "ipc"];
    const child = spawn(isNode ? process.execPath : entry.program, args, {
      cwd: root,
      env,
      detached: true,
      stdio,
    });
    entry.child = child;
    entry.alive = true;
    entry.startedAt = Date.now();
    if (child.pid) onSpawn(entry.name, child.pid);
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on("line", line => {
        if (isReadyLine(line)) entry.ready = true;
        print(entry.name, line);
      });
    }
    child.on("message", message => {
      if (message === "ready" || message?.msg === "ready") entry.ready = true;
    });
    child.once("error", error => onEnd(entry, child, error.message));
    child.once("exit", (code, signal) => onEnd(entry, child, signal ?? `code ${code}`, code));
  }

  function onEnd(entry, child, reason, code) {
    if (!entry.alive || entry.child !== child) return;
    entry.alive = false;
    if (entry.stopping) return;
    // What it had started itself, such as sandboxes, ends with it.
    if (child.pid) sendSignal(-child.pid, "SIGKILL");
    const now = Date.now();
    if (now - entry.startedAt > STEADY_MS) entry.deaths = [];
    entry.deaths.push(now);
    const refusal = refusalOf(entry, reason, code, now);
    if (refusal) return onGiveUp(new Complaint(refusal));
    const waitMs = backOffMs[Math.min(entry.deaths.length, backOffMs.length) - 1];
    say(`${entry.name} ended unexpectedly (${reason}): starting it again in ${waitMs / 1000} s`);
    entry.timer = setTimeout(() => launch(entry), waitMs);
  }

  function refusalOf(entry, reason, code, now) {
    if (code === BAD_SETTINGS) return `${entry.name} refuses its settings: see its line above`;
    const recent = entry.deaths.filter(at => now - at <= GIVE_UP_WITHIN_MS);
    if (started || recent.length < GIVE_UP_DEATHS) return undefined;
    return `${entry.name} died ${GIVE_UP_DEATHS} times within 30 s (last: ${reason}): its lines above say why`;
  }

  async function stop(name, graceMs) {
    const entry = entries.get(name);
    if (!entry) return;
    entry.stopping = true;
    clearTimeout(entry.timer);
    if (!entry.alive) return;
    const { pid } = entry.child;
    if (pid) sendSignal(pid, "SIGTERM");
    if (!(await within(graceMs, () => !entry.alive, { everyMs: 20 }))) {
      say(`${name} did not end in time and is killed`);
    }
    // The group, so that nothing it had started stays behind.
    if (pid) sendSignal(-pid, "SIGKILL");
  }

  const isReady = entry => entry.ready || (isQuiet && entry.alive && Date.now() - entry.startedAt > QUIET_MS);

  return {
    start,
    stop,
    names: () => [...entries.keys()],
    waiting: () => [...entries.values()].filter(entry => !isReady(entry)).map(entry => entry.name),
    allStarted() {
      started = true;
    },
    killAll() {
      for (const entry of entries.values()) {
        entry.stopping = true;
        clearTimeout(entry.timer);
        if (entry.alive && entry.child.pid) sendSignal(-entry.child.pid, "SIGKILL");
      }
    },
  };
}

function isReadyLine(line) {
  if (!line.startsWith("{") || !line.includes('"ready"')) return false;
  try {
    return JSON.parse(line).msg === "ready";
  } catch {
    return false;
  }
}
