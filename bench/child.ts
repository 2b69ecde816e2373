import { type ChildProcess, fork } from "node:child_process";
import { openSync } from "node:fs";

/** A process that this one started, and which ends with it. */
export interface Program {
  pid: number;
  /** Rejects when it has ended, with the reason. */
  ended: Promise<never>;
  /** Ends it with SIGTERM, and after 10 s with SIGKILL. */
  stop(): Promise<void>;
}

/** A process that measures, or one that is measured, and that answers requests. */
export interface Child extends Omit<Program, "ended"> {
  /** Sends a request and returns the response; only one at a time. Throws if the request fails or the process ends. */
  request<Response>(request: object): Promise<Response>;
}

export interface ChildOptions {
  args?: string[];
  env?: Record<string, string>;
  nodeOptions?: string[];
  /** Path of the Node that runs it; by default the one of this process. */
  nodePath?: string | undefined;
  /** Its output is appended to this file. */
  logFile: string;
}

const STOP_MS = 10_000;
/** Without it a killed benchmark would leave processes behind that try to connect to their stores for ever. */
const END_WITH_PARENT =
  "data:text/javascript,process.once('disconnect',()=>process.kill(process.pid,'SIGTERM'))";

/** Starts a script as a child process, and waits for its `ready`. Throws if it ends before. */
export async function startChild(script: string, options: ChildOptions): Promise<Child> {
  const { child, ended, pid, stop } = startScript(script, options);
  const next = () => Promise.race([ended, new Promise<unknown>(resolve => child.once("message", resolve))]);
  await next();
  return {
    pid,
    stop,
    async request<Response>(request: object) {
      const reply = next();
      child.send(request);
      const { response, error } = (await reply) as { response: Response; error?: string };
      if (error) throw new Error(error);
      return response;
    },
  };
}

/** Starts a script that knows nothing of this one, such as another product's program. */
export function startScript(script: string, options: ChildOptions): Program & { child: ChildProcess } {
  const log = openSync(options.logFile, "a");
  const child = fork(script, options.args ?? [], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: "production", ...options.env },
    execArgv: ["--import", END_WITH_PARENT, ...(options.nodeOptions ?? [])],
    stdio: ["ignore", log, log, "ipc"],
    serialization: "advanced",
    ...(options.nodePath !== undefined && { execPath: options.nodePath }),
  });
  const ended = new Promise<never>((_, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) =>
      reject(new Error(`${script} ended (${signal ?? `code ${code}`}): see ${options.logFile}`)),
    );
  });
  // It may end while nobody waits for it: between two requests, of which the next one fails then.
  ended.catch(() => {});
  return {
    child,
    pid: child.pid ?? 0,
    ended,
    async stop() {
      child.kill("SIGTERM");
      const hard = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
      await ended.catch(() => {});
      clearTimeout(hard);
    },
  };
}
