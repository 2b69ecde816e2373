import { spawn } from "node:child_process";
import { accessSync, appendFileSync, constants, mkdirSync, statSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

/** The path of a program on the PATH, or undefined. */
export function findProgram(name, path = process.env.PATH ?? "") {
  return path
    .split(delimiter)
    .filter(Boolean)
    .map(folder => join(folder, name))
    .find(isExecutable);
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/**
 * Runs a program to its end and returns `{code, output}`: the exit code, and stdout and stderr in the order in which
 * they were written. The code is 127 if the program can't be started. The output is also written to `logFile`, if one
 * is given. `signal` (an AbortSignal) ends the program early; the promise then rejects with the signal's reason.
 */
export function run(program, args, { cwd, env = process.env, logFile, signal } = {}) {
  signal?.throwIfAborted();
  if (logFile) {
    mkdirSync(dirname(logFile), { recursive: true });
    writeFileSync(logFile, `$ ${[program, ...args].join(" ")}\n`);
  }
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, signal, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    const keep = chunk => {
      output += chunk;
      if (logFile) appendFileSync(logFile, chunk);
    };
    child.stdout.setEncoding("utf8").on("data", keep);
    child.stderr.setEncoding("utf8").on("data", keep);
    child.on("error", error => {
      if (signal?.aborted) reject(signal.reason);
      else resolve({ code: 127, output: output + error.message });
    });
    child.on("close", code => resolve({ code: code ?? 1, output }));
  });
}

/** The last line that is not empty, for an error message of one line. */
export function lastLine(output) {
  return output.trim().split("\n").at(-1)?.trim() ?? "";
}
