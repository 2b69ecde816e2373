import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findProgram, lastLine, run } from "./commands.mjs";

const PIP = [
  "install",
  "--quiet",
  "--no-input",
  "--disable-pip-version-check",
  "--timeout",
  "20",
  "--retries",
  "1",
];

/** The virtual environment of a requirements file: another one for each of its versions. */
function folderOf({ root, requirements, cache }) {
  const text = readFileSync(join(root, requirements), "utf8");
  return join(root, cache, createHash("sha256").update(text).digest("hex").slice(0, 12));
}

/** Returns `{bin}`, the folder of the programs, or null while the packages are not installed. */
export function findPythonPackages(given) {
  const folder = folderOf(given);
  return existsSync(join(folder, "installed")) ? { bin: join(folder, "bin") } : null;
}

/**
 * Installs what a requirements file lists, every package with its version, into a virtual environment below the folder
 * `cache`, once. Returns `{bin}`, the folder of its programs, or `{missing}` with the reason in one line if that can't be
 * done: no python3, no venv module, no package index. `what` is for the line that says so.
 */
export async function installPythonPackages({ root, requirements, cache, what, say, signal }) {
  const python = findProgram("python3");
  if (!python) return { missing: "there is no python3 on the PATH" };
  const found = findPythonPackages({ root, requirements, cache });
  if (found) return found;
  const folder = folderOf({ root, requirements, cache });
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(root, cache), { recursive: true });
  say(`Installing ${what} into ${cache} (once) ...`);
  const steps = [
    [python, ["-m", "venv", folder]],
    [
      join(folder, "bin/python"),
      ["-m", "pip", ...PIP, "--only-binary", ":all:", "-r", join(root, requirements)],
    ],
  ];
  for (const [step, args] of steps) {
    const { code, output } = await run(step, args, { cwd: root, signal });
    if (code !== 0) return { missing: lastLine(output) };
  }
  writeFileSync(join(folder, "installed"), "");
  return { bin: join(folder, "bin") };
}
