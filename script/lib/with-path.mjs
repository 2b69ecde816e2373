import { spawn } from "node:child_process";
import { delimiter } from "node:path";
import { UserError } from "./user-error.mjs";

/**
 * Runs a program with the folder `bin` first on the PATH, on this terminal, and passes signals on to it. Returns its exit code.
 * Throws UserError if it can't be started.
 */
export function runWithPath(bin, program, args, { root }) {
  const child = spawn(program, args, {
    cwd: root,
    env: { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` },
    stdio: "inherit",
  });
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(name, () => child.kill(name));
  return new Promise((resolve, reject) => {
    child.once("error", error => reject(new UserError(`${program} can't be started: ${error.message}`)));
    child.once("exit", code => resolve(code ?? 1));
  });
}
