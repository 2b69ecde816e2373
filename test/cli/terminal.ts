import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programOf, root } from "../support/built.ts";

/** A `headwater` command at a terminal, which shows what it prints and what is typed. */
export interface AtTerminal {
  shown(): string;
  type(text: string): void;
  kill(): void;
  ended: Promise<{ code: number | null; shown: string }>;
}

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/** Starts `headwater` at a pseudo terminal, as a person does. */
export function atTerminal(args: string[], env: Record<string, string>): AtTerminal {
  const program = programOf("src/cli/main.ts", { folder: root, built: "bin/headwater" });
  const command = [process.execPath, ...program, ...args].map(quoted).join(" ");
  const child = spawn("script", ["-qefc", `exec ${command}`, "/dev/null"], {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NODE_OPTIONS: process.env.NODE_OPTIONS,
      XDG_CONFIG_HOME: join(tmpdir(), "headwater-tests-without-profiles"),
      TERM: "dumb",
      ...env,
    },
  });
  let shown = "";
  child.stdout.on("data", chunk => {
    shown += chunk;
  });
  return {
    shown: () => shown,
    type: text => void child.stdin.write(text),
    kill: () => void child.kill("SIGTERM"),
    ended: new Promise(resolve => child.once("close", code => resolve({ code, shown }))),
  };
}
