import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../support/until.ts";
import { spawnWorker, type WorkerProcess } from "../workers/worker-process.ts";

const READY_MS = 180_000;
/** A process stops in 9 s (src/lib/shutdown.ts); the rest is for a busy machine. */
const STOP_MS = 20_000;
/** How long after its end a supervisor starts a process again. */
const AGAIN_MS = 500;
/** A process that starts while a store is away ends with this line, and its supervisor starts it again. */
const STORE_AWAY = /did not respond|can't be reached|ECONN|being shut down/;

/** What ended without being told to. */
export interface UnexpectedEnd {
  name: string;
  how: string;
  logFile: string;
}

/** A process of the installation that is started again whenever it ends, as by a supervisor. */
export class Supervised {
  /** Such as `runs-1`. */
  readonly name: string;
  /** Such as `runs`. */
  readonly kind: string;
  readonly unexpected: UnexpectedEnd[] = [];
  readonly #env: Record<string, string>;
  readonly #logs: string;
  #starts = 0;
  #child: WorkerProcess | undefined;
  /** It is to end, or to stay away. */
  #isWanted = false;

  constructor(name: string, env: Record<string, string>, logs: string) {
    this.name = name;
    this.kind = name.replace(/-\d+$/, "");
    this.#env = env;
    this.#logs = logs;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  #logFile(): string {
    return join(this.#logs, `${this.name}.${this.#starts}.log`);
  }

  start(): void {
    if (this.#child) return;
    this.#isWanted = true;
    this.#starts += 1;
    const logFile = this.#logFile();
    const child = spawnWorker(this.kind, this.#env, { logFile });
    this.#child = child;
    void child.ended.then(how => {
      this.#child = undefined;
      if (!this.#isWanted) return;
      const output = readFileSync(logFile, "utf8");
      const wasReady = output.includes('"msg":"ready"');
      if (wasReady || !STORE_AWAY.test(output)) {
        this.unexpected.push({ name: this.name, how: String(how), logFile });
      }
      setTimeout(() => this.#isWanted && this.start(), AGAIN_MS);
    });
  }

  async ready(): Promise<void> {
    const isReady = () => this.#child?.output().includes('"msg":"ready"');
    await until(isReady, { timeoutMs: READY_MS, what: `${this.name} to be ready (${this.#logFile()})` });
  }

  /** Ends it by a signal; resolves with how it ended, once it is gone. It stays away until `start`. */
  async end(signal: "SIGKILL" | "SIGTERM"): Promise<number | string | null> {
    this.#isWanted = false;
    const child = this.#child;
    if (!child) return null;
    child.kill(signal);
    const late = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
    return await child.ended.finally(() => clearTimeout(late));
  }

  freeze(): void {
    this.#child?.kill("SIGSTOP");
  }

  thaw(): void {
    this.#child?.kill("SIGCONT");
  }
}

/** Returns the processes whose command line holds all these words. */
export function processesWith(...words: string[]): number[] {
  const pids = readdirSync("/proc").filter(name => /^\d+$/.test(name));
  const found = pids.filter(pid => {
    const line = commandLine(pid);
    return line !== "" && words.every(word => line.includes(word));
  });
  return found.map(Number);
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
