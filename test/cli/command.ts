import { type ChildProcess, spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { programOf, root } from "../support/built.ts";

export interface CommandResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A running `headwater` command. */
export interface RunningCommand {
  stdout(): string;
  stderr(): string;
  /** Writes to its stdin as if typed. */
  type(text: string): void;
  /** Ends its stdin. */
  endInput(): void;
  kill(signal: NodeJS.Signals): void;
  ended: Promise<CommandResult>;
}

/** Those that run: one that a failed test has left would outlive the tests, and wait for its server for ever. */
const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** Nothing is there: tests don't see the profiles of the person who runs them. */
const NO_PROFILES = join(tmpdir(), "headwater-tests-without-profiles");

/** Starts `headwater` as a process with only these settings; `folder` contains the project. */
export function startHeadwater(
  args: string[],
  env: Record<string, string> = {},
  folder = root,
): RunningCommand {
  const program = programOf("src/cli/main.ts", { folder, built: "bin/headwater" });
  const child = spawn(process.execPath, [...program, ...args], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NODE_OPTIONS: process.env.NODE_OPTIONS,
      XDG_CONFIG_HOME: NO_PROFILES,
      ...env,
    },
    stdio: ["pipe", "pipe", "pipe"],
  });
  running.add(child);
  child.once("exit", () => running.delete(child));
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", chunk => {
    stdout += chunk;
  });
  child.stderr.on("data", chunk => {
    stderr += chunk;
  });
  return {
    stdout: () => stdout,
    stderr: () => stderr,
    type: text => void child.stdin.write(text),
    endInput: () => void child.stdin.end(),
    kill: signal => void child.kill(signal),
    ended: new Promise(resolve => child.once("close", code => resolve({ code, stdout, stderr }))),
  };
}

/** Runs `headwater` until it ends; see `startHeadwater`. */
export function headwater(
  args: string[],
  env: Record<string, string> = {},
  folder = root,
): Promise<CommandResult> {
  return startHeadwater(args, env, folder).ended;
}

/** Runs `headwater`, and writes a line to its standard input, as a secret is given to it. */
export function withInput(args: string[], env: Record<string, string>, line: string): Promise<CommandResult> {
  const command = startHeadwater(args, env);
  command.type(`${line}\n`);
  return command.ended;
}

/** Ways to run commands with the same settings, which `env` returns. */
export function commandsWith(env: () => Record<string, string>) {
  /** Returns what a command printed, which must succeed. */
  async function printed(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await headwater(args, env());
    expect(code, stderr).to.equal(0);
    return stdout;
  }
  async function lineOf(exitCode: number, args: string[]): Promise<string> {
    const { code, stdout, stderr } = await headwater(args, env());
    expect({ code, stdout }).to.deep.equal({ code: exitCode, stdout: "" });
    expect(stderr.trimEnd().split("\n"), stderr).to.have.length(1);
    return stderr;
  }
  return {
    printed,
    json: async (...args: string[]) => JSON.parse(await printed(...args, "--json")),
    /** Returns the one line with which a command failed. */
    failure: (...args: string[]) => lineOf(1, args),
    /** Returns the one line that says what is wrong with how a command was used. */
    misuse: (...args: string[]) => lineOf(2, args),
  };
}
