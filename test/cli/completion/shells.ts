import { spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { programOf } from "../../support/built.ts";
import { headwater } from "../command.ts";

/** Shells that have read their scripts, and find `headwater` on their PATH. */
export interface Shells {
  /** What a line is completed by, in an order of its own; in bash what it then has in place of its last word. */
  bash: (line: string, env?: Record<string, string>) => Promise<string[]>;
  fish: (line: string, env?: Record<string, string>) => Promise<string[]>;
  /** Returns what zsh prints. */
  zsh: (args: string[], env?: Record<string, string>) => Promise<string>;
  files: Record<"bash" | "zsh" | "fish", string>;
  /** The files in the folder in which the shells are, which is empty at first. */
  made: () => Promise<string[]>;
  close: () => Promise<void>;
}

/** The words into which bash parts a line. */
const WORD = /(?:\\.|"(?:\\.|[^"\\])*"?|'[^']*'?|[^\s:=@"'\\])+|[:=@]+/g;

const IN_BASH = `. "$1"; COMP_LINE=$2; COMP_POINT=\${#2}; COMP_WORDS=("\${@:3}"); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
  _headwater; printf '%s\\n' "\${COMPREPLY[@]}"`;

export async function openShells(): Promise<Shells> {
  const folder = await mkdtemp(join(tmpdir(), "headwater-completion-"));
  const [bin, work] = [join(folder, "bin"), join(folder, "work")];
  await mkdir(bin);
  await mkdir(work);
  const words = [process.execPath, ...programOf("src/cli/main.ts", { built: "bin/headwater" })];
  await writeFile(
    join(bin, "headwater"),
    `#!/bin/sh\nexec ${words.map(word => `'${word}'`).join(" ")} "$@"\n`,
  );
  await chmod(join(bin, "headwater"), 0o755);
  const fileOf = async (shell: string) => {
    const { code, stdout, stderr } = await headwater(["completion", shell]);
    expect(code, stderr).to.equal(0);
    await writeFile(join(folder, shell), stdout);
    return join(folder, shell);
  };
  const files = { bash: await fileOf("bash"), zsh: await fileOf("zsh"), fish: await fileOf("fish") };

  /** Not `spawnSync`: the server is in this process. */
  async function output(program: string, args: string[], env: Record<string, string> = {}): Promise<string> {
    const PATH = `${bin}:${process.env.PATH}`;
    const child = spawn(program, args, {
      cwd: work,
      env: { PATH, HOME: folder, LANG: "C.UTF-8", ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", chunk => {
      stdout += chunk;
    });
    child.stderr.setEncoding("utf8").on("data", chunk => {
      stderr += chunk;
    });
    const code = await new Promise(resolve => child.once("close", resolve));
    expect([code, stderr], stderr).to.deep.equal([0, ""]);
    return stdout;
  }

  const linesOf = (text: string) => text.split("\n").filter(Boolean);
  return {
    files,
    bash: async (line, env) => {
      const parted = [...line.matchAll(WORD)].map(([word]) => word);
      const last = line.endsWith(" ") && !/["\\]/.test(parted.at(-1)?.slice(-1) ?? "") ? [""] : [];
      const args = ["--norc", "-c", IN_BASH, "bash", files.bash, line, ...parted, ...last];
      return linesOf(await output("bash", args, env));
    },
    fish: async (line, env) => {
      const script = `source ${files.fish}; complete -C $argv[1]`;
      const text = await output("fish", ["--no-config", "-c", script, line], env);
      return linesOf(text).map(row => row.split("\t")[0] ?? "");
    },
    zsh: (args, env) => output("zsh", args, env),
    made: () => readdir(work),
    close: () => rm(folder, { recursive: true, force: true }),
  };
}
