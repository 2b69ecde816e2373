import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readProcfile } from "../../script/lib/procfile.mjs";
import type { Config } from "../../src/config.ts";
import { programOf, root } from "../support/built.ts";
import { until } from "../support/until.ts";

const sourceOf = (name: string) => (name === "web" ? "src/server.ts" : `workers/${name}.ts`);

const PROCFILES = ["Procfile", "Procfile.small"].flatMap(file => readProcfile(join(root, file)));

/** Node's arguments for a process, as installations have them; the program's file is the last one. */
const flagsOf = (name: string): string[] =>
  PROCFILES.find(({ args }) => args.at(-1) === `dist/${sourceOf(name).replace(/ts$/, "js")}`)?.args.slice(
    0,
    -1,
  ) ?? [];

export interface WorkerProcess {
  pid: number | undefined;
  output(): string;
  /** Reads no further output: who writes more has lost its reader. */
  leaveOutput(): void;
  /** Resolves with the exit code, or the signal that ended it. */
  ended: Promise<number | string | null>;
  kill(signal: NodeJS.Signals): void;
}

/** Environment variables with which another process uses a test platform's stores. */
export function environmentOf(config: Config): Record<string, string> {
  return {
    MONGODB_URL: config.mongodbUrl,
    REDIS_URL: config.redisUrl,
    REDIS_PREFIX: config.redisPrefix,
    SECRETS_KEY: config.secretsKeys.map(key => key.toString("base64")).join(","),
    EGRESS_ALLOW: config.egressAllow.join(","),
    TIMEOUTS: `stalled:${config.stalledAfterMs}ms,attempt:${config.deliveries.timeoutMs}ms`,
    LOG_LEVEL: "info",
  };
}

/**
 * Starts a worker, or `web`, as a child process. With a `logFile`, which must be new, its output is kept there; `flags` are Node's,
 * those of the Procfile unless they are given; `folder` holds another release.
 */
export function spawnWorker(
  name: string,
  env: Record<string, string>,
  {
    logFile,
    flags = flagsOf(name),
    folder,
  }: { logFile?: string; flags?: string[]; folder?: string | undefined } = {},
): WorkerProcess {
  return spawnProgram([...flags, ...programOf(sourceOf(name), { folder })], env, logFile);
}

/** Starts a program as a child process of its own, with Node's arguments for it. With a `logFile` its output is kept there. */
export function spawnProgram(args: string[], env: Record<string, string>, logFile?: string): WorkerProcess {
  const log = logFile === undefined ? "pipe" : openSync(logFile, "a");
  const child: ChildProcess = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH, NODE_OPTIONS: process.env.NODE_OPTIONS, ...env },
    stdio: ["ignore", log, log],
  });
  if (typeof log === "number") closeSync(log);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", chunk => {
      output += chunk;
    });
  }
  return {
    pid: child.pid,
    output: () => (logFile === undefined ? output : readFileSync(logFile, "utf8")),
    leaveOutput: () => {
      child.stdout?.destroy();
      child.stderr?.destroy();
    },
    ended: new Promise(resolve => child.once("close", (code, signal) => resolve(code ?? signal))),
    kill: signal => void child.kill(signal),
  };
}

/** Beside other tests a process may take many seconds to start. */
const START_MS = 120_000;

/** Resolves once the process has logged that it is ready; throws with what it has written if it does not. */
export async function whenReady(worker: WorkerProcess, timeoutMs = START_MS): Promise<void> {
  const isReady = () => {
    if (worker.output().includes('"msg":"ready"')) return true;
    throw new Error(worker.output());
  };
  await until(isReady, { timeoutMs, what: "ready" });
}
