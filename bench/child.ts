import { fork } from "node:child_process";
import { openSync } from "node:fs";

/** A process that measures, or one that is measured. */
export interface Child {
  pid: number;
  /** Sends a request and returns the response; only one at a time. Throws if the request fails or the process ends. */
  request<Response>(request: object): Promise<Response>;
  /** Ends it with SIGTERM, and after 10 s with SIGKILL. */
  stop(): Promise<void>;
}

export interface ChildOptions {
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
  const log = openSync(options.logFile, "a");
  const child = fork(script, {
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
  // It may end between two requests; then the next request fails.
  ended.catch(() => {});
  const next = () => Promise.race([ended, new Promise<unknown>(resolve => child.once("message", resolve))]);
  await next();
  return {
    pid: child.pid ?? 0,
    async request<Response>(request: object) {
      const reply = next();
      child.send(request);
      const { response, error } = (await reply) as { response: Response; error?: string };
      if (error) throw new Error(error);
      return response;
    },
    async stop() {
      child.kill("SIGTERM");
      const hard = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
      await ended.catch(() => {});
      clearTimeout(hard);
    },
  };
}
