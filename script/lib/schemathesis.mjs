import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findProgram, lastLine, run } from "./commands.mjs";

/** Lists every package with its version, so that later runs use the same ones. */
const REQUIREMENTS = "script/lib/fuzz-requirements.txt";

/**
 * Installs schemathesis into a virtual environment below `.cache/`, once. Returns `{program}`, or `{missing}` with the
 * reason in one line if it can't be installed: no python3, no venv module, no package index.
 */
export async function installSchemathesis({ root, say, signal }) {
  const python = findProgram("python3");
  if (!python) return { missing: "there is no python3 on the PATH" };
  const requirements = readFileSync(join(root, REQUIREMENTS), "utf8");
  const name = createHash("sha256").update(requirements).digest("hex").slice(0, 12);
  const folder = join(root, ".cache/fuzz", name);
  const done = join(folder, "installed");
  const program = join(folder, "bin/schemathesis");
  if (existsSync(done)) return { program };
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(root, ".cache/fuzz"), { recursive: true });
  say("Installing schemathesis into .cache/fuzz (once) ...");
  const pip = [
    "install",
    "--quiet",
    "--no-input",
    "--disable-pip-version-check",
    "--timeout",
    "20",
    "--retries",
    "1",
  ];
  const steps = [
    [python, ["-m", "venv", folder]],
    [
      join(folder, "bin/python"),
      ["-m", "pip", ...pip, "--only-binary", ":all:", "-r", join(root, REQUIREMENTS)],
    ],
  ];
  for (const [step, args] of steps) {
    const { code, output } = await run(step, args, { cwd: root, signal });
    if (code !== 0) return { missing: lastLine(output) };
  }
  writeFileSync(done, "");
  return { program };
}
