import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { sendSignal, within } from "./processes.mjs";
import { UserError } from "./user-error.mjs";

const BACK_OFF_MS = [500, 1000, 2000, 4000, 10_000];
const GIVE_UP_DEATHS = 5;
const GIVE_UP_WITHIN_MS = 30_000;
const STEADY_MS = 60_000;
// sysexits' EX_CONFIG: the same settings would fail again in the same way.
const BAD_SETTINGS = 78;
// With LOG_LEVEL above info no process logs that it is ready; one that lives this long then counts as ready.
const QUIET_LEVELS = ["warn", "error", "fatal", "silent"];
const QUIET_MS = 3000;

/** Runs the processes of the Procfile, and starts those again that die. */
export class Supervisor {
  #root;
  #env;
  #print;
  #say;
  #onSpawn;
  #onGiveUp;
  #backOffMs;
  #isQuiet;
  #entries = new Map();
  #hasStarted = false;

  /**
   * `print(name, line)` is called with each line of a process, `say(text)` with each line of the supervisor itself,
   * `onSpawn(name, pid)` with each new process, and `onGiveUp(UserError)` if a process can't be started: it rejects
   * its settings, or dies 5 times within 30 s before `allStarted()` was called.
   */
  constructor({ root, env, print, say, onSpawn, onGiveUp, backOffMs = BACK_OFF_MS }) {
    this.#root = root;
    this.#env = env;
    this.#print = print;
    this.#say = say;
    this.#onSpawn = onSpawn;
    this.#onGiveUp = onGiveUp;
    this.#backOffMs = backOffMs;
    this.#isQuiet = QUIET_LEVELS.includes(env.LOG_LEVEL);
  }

  /** Starts a process `{name, program, args}`, see procfile.mjs. */
  start({ name, program, args }) {
    const entry = { name, program, args, deaths: [], isReady: false, isStopping: false };
    this.#entries.set(name, entry);
    this.#launch(entry);
  }

  /** Ends a process with SIGTERM, and with SIGKILL after `graceMs`. Resolves when it is gone. */
  async stop(name, graceMs) {
    const entry = this.#entries.get(name);
    if (!entry) return;
    entry.isStopping = true;
    clearTimeout(entry.timer);
    if (!entry.isAlive) return;
    const { pid } = entry.child;
    if (pid) sendSignal(pid, "SIGTERM");
    if (!(await within(graceMs, () => !entry.isAlive, { everyMs: 20 }))) {
      this.#say(`${name} did not end in time and is killed`);
    }
    // The process group, so that no process that it started stays behind.
    if (pid) sendSignal(-pid, "SIGKILL");
  }

  /** Stops a process and starts it again. Resolves when the new one is started, not yet ready. */
  async restart(name, graceMs) {
    await this.stop(name, graceMs);
    this.start(this.#entries.get(name));
  }

  names() {
    return [...this.#entries.keys()];
  }

  /** The names of the processes that are not ready yet. */
  waiting() {
    return [...this.#entries.values()].filter(entry => !this.#isReady(entry)).map(entry => entry.name);
  }

  /** From now on a process that dies is always started again. */
  allStarted() {
    this.#hasStarted = true;
  }

  killAll() {
    for (const entry of this.#entries.values()) {
      entry.isStopping = true;
      clearTimeout(entry.timer);
      if (entry.isAlive && entry.child.pid) sendSignal(-entry.child.pid, "SIGKILL");
    }
  }

  #launch(entry) {
    const isNode = entry.program === "node";
    const child = spawn(isNode ? process.execPath : entry.program, this.#argumentsOf(entry, isNode), {
      cwd: this.#root,
      env: this.#env,
      // Its own process group keeps the terminal's Ctrl-C away; the ipc channel closes when this script is gone.
      detached: true,
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    entry.child = child;
    entry.isAlive = true;
    entry.startedAt = Date.now();
    if (child.pid) this.#onSpawn(entry.name, child.pid);
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on("line", line => {
        if (isReadyLine(line)) entry.isReady = true;
        this.#print(entry.name, line);
      });
    }
    child.on("message", message => {
      if (message === "ready" || message?.msg === "ready") entry.isReady = true;
    });
    child.once("error", error => this.#onEnd(entry, child, error.message));
    child.once("exit", (code, signal) => this.#onEnd(entry, child, signal ?? `code ${code}`, code));
  }

  /** The arguments with an absolute path of the script, by which lock.mjs recognizes the process. */
  #argumentsOf({ args }, isNode) {
    if (!isNode) return args;
    const script = args.findIndex(arg => /\.(?:m?js|ts)$/.test(arg));
    return args.map((arg, index) => (index === script ? resolve(this.#root, arg) : arg));
  }

  #onEnd(entry, child, reason, code) {
    if (!entry.isAlive || entry.child !== child) return;
    entry.isAlive = false;
    if (entry.isStopping) return;
    // The processes that it started, such as sandboxes, end with it.
    if (child.pid) sendSignal(-child.pid, "SIGKILL");
    const now = Date.now();
    if (now - entry.startedAt > STEADY_MS) entry.deaths = [];
    entry.deaths.push(now);
    const whyGiveUp = this.#whyGiveUp(entry, reason, code, now);
    if (whyGiveUp) return this.#onGiveUp(new UserError(whyGiveUp));
    const waitMs = this.#backOffMs[Math.min(entry.deaths.length, this.#backOffMs.length) - 1];
    this.#say(`${entry.name} ended unexpectedly (${reason}): starting it again in ${waitMs / 1000} s`);
    entry.timer = setTimeout(() => this.#launch(entry), waitMs);
  }

  #whyGiveUp(entry, reason, code, now) {
    if (code === BAD_SETTINGS) return `${entry.name} rejects its settings: see its line above`;
    const recent = entry.deaths.filter(at => now - at <= GIVE_UP_WITHIN_MS);
    if (this.#hasStarted || recent.length < GIVE_UP_DEATHS) return undefined;
    return `${entry.name} died ${GIVE_UP_DEATHS} times within 30 s (last: ${reason}): its lines above say why`;
  }

  #isReady(entry) {
    return entry.isReady || (this.#isQuiet && entry.isAlive && Date.now() - entry.startedAt > QUIET_MS);
  }
}

function isReadyLine(line) {
  if (!line.startsWith("{") || !line.includes('"ready"')) return false;
  try {
    return JSON.parse(line).msg === "ready";
  } catch {
    return false;
  }
}
