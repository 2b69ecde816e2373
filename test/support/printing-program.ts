import { spawn } from "node:child_process";
import { once } from "node:events";
import { until } from "./until.ts";

/** A program that a test has started in order to kill it. */
export interface PrintingProgram {
  /** What it has written to its standard output so far. */
  printed: string;
  /** Ends it by SIGKILL; resolves once it is gone. */
  kill(): Promise<void>;
}

/** Starts a program from the sources, with Node's arguments for it; resolves once it prints something, which is named by `what`. */
export async function startPrintingProgram(args: string[], what: string): Promise<PrintingProgram> {
  const program = spawn(process.execPath, ["--import", "tsx", ...args]);
  const closed = once(program, "close");
  let printed = "";
  program.stdout.on("data", chunk => {
    printed += chunk;
  });
  await until(() => printed, { what });
  return {
    printed,
    async kill() {
      program.kill("SIGKILL");
      await closed;
    },
  };
}
