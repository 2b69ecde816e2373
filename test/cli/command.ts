import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

export interface CommandResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Runs `headwater` as a process of its own, with these settings and no others; `folder` holds the project. */
export function headwater(
  args: string[],
  env: Record<string, string> = {},
  folder = root,
): Promise<CommandResult> {
  const child = spawn(process.execPath, ["--import", "tsx", "src/cli/main.ts", ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_OPTIONS: process.env.NODE_OPTIONS, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", chunk => {
    stdout += chunk;
  });
  child.stderr.on("data", chunk => {
    stderr += chunk;
  });
  return new Promise(resolve => child.once("close", code => resolve({ code, stdout, stderr })));
}
