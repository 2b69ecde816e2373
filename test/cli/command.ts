import { spawn } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export interface CommandResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The built command where it is up to date, as `npm test` sees to: it starts twice as fast as the sources. */
function program(folder: string): string[] {
  const stamp = join(folder, "dist/.sources");
  const sources = readdirSync(join(folder, "src"), { recursive: true, encoding: "utf8" });
  const isBuilt =
    existsSync(stamp) &&
    sources.every(file => statSync(join(folder, "src", file)).mtimeMs <= statSync(stamp).mtimeMs);
  return isBuilt ? ["bin/headwater"] : ["--import", "tsx", "src/cli/main.ts"];
}

/** Runs `headwater` as a process of its own, with these settings and no others; `folder` holds the project. */
export function headwater(
  args: string[],
  env: Record<string, string> = {},
  folder = root,
): Promise<CommandResult> {
  const child = spawn(process.execPath, [...program(folder), ...args], {
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
