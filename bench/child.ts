import { fork } from "node:child_process";
import { openSync } from "node:fs";

/** A process of the measurement, or one that is measured. */
export interface Child {
  pid: number;
  /** Its answer to one request; one at a time. Throws when it fails or ends. */
  ask<Answer>(request: object): Promise<Answer>;
  /** Asks it to end, and makes it after 10 s. */
  stop(): Promise<void>;
}

export interface ChildOptions {
  env?: Record<string, string>;
  nodeOptions?: string[];
  /** Takes what it writes. */
  logFile: string;
}

const STOP_MS = 10_000;
/** Without it a killed benchmark would leave processes that look for their stores for ever. */
const END_WITH_PARENT =
  "data:text/javascript,process.once('disconnect',()=>process.kill(process.pid,'SIGTERM'))";

/** Starts a script as a process of its own, and waits until it says that it is ready. Throws when it ends before. */
export async function startChild(script: string, options: ChildOptions): Promise<Child> {
  const log = openSync(options.logFile, "a");
  const child = fork(script, {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: "production", ...options.env },
    execArgv: ["--import", END_WITH_PARENT, ...(options.nodeOptions ?? [])],
    stdio: ["ignore", log, log, "ipc"],
    serialization: "advanced",
  });
  const ended = new Promise<never>((_, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) =>
      reject(new Error(`${script} ended (${signal ?? `code ${code}`}): see ${options.logFile}`)),
    );
  });
  // It may end while nobody asks; the next one who does hears of it.
  ended.catch(() => {});
  const next = () => Promise.race([ended, new Promise<unknown>(resolve => child.once("message", resolve))]);
  await next();
  return {
    pid: child.pid ?? 0,
    async ask<Answer>(request: object) {
      const reply = next();
      child.send(request);
      const { answer, error } = (await reply) as { answer: Answer; error?: string };
      if (error) throw new Error(error);
      return answer;
    },
    async stop() {
      child.kill("SIGTERM");
      const hard = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
      await ended.catch(() => {});
      clearTimeout(hard);
    },
  };
}
