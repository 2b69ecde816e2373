import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { lastLine, run } from "./commands.mjs";
import { runScript, UserError } from "./user-error.mjs";
import { runWithPath } from "./with-path.mjs";

const HELP = `Usage: script/with-node MAJOR COMMAND [ARGUMENTS]

Runs a command with Node.js MAJOR (20, 22, 24 or 26) first on the PATH. The version is pinned; it is installed once into
.cache/, from the npm registry (Linux and macOS).

  script/with-node 24 npm run test:unit`;

const VERSIONS = { 20: "20.19.5", 22: "22.20.0", 24: "24.9.0", 26: "26.9.0" };

async function main() {
  const [major, program, ...args] = process.argv.slice(2);
  if (!major || major === "--help") return console.log(HELP);
  if (!VERSIONS[major] || !program) throw new UserError("see script/with-node --help");
  const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
  const bin = await installNode({ root, major, say: console.error });
  return runWithPath(bin, program, args, { root });
}

/** Installs the pinned version of Node.js MAJOR into .cache/ unless it is there. Returns the folder of the program. */
export async function installNode({ root, major, say }) {
  const version = VERSIONS[major];
  const folder = join(root, `.cache/node-${version}`);
  const name = `node-${process.platform}-${process.arch}`;
  const bin = join(folder, "node_modules", name, "bin");
  if (existsSync(bin)) return bin;
  say(`Installing Node.js ${version} into .cache (once) ...`);
  const fresh = `${folder}-${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  try {
    // Its own package.json, so that npm installs here and not in the project above.
    writeFileSync(join(fresh, "package.json"), '{ "private": true }\n');
    const args = [
      "install",
      `${name}@${version}`,
      "--prefix",
      fresh,
      "--no-save",
      "--ignore-scripts",
      "--no-audit",
      "--no-fund",
    ];
    const { code, output } = await run("npm", args, {
      cwd: fresh,
      logFile: join(root, ".cache/npm-node.log"),
    });
    if (code !== 0) throw new UserError(`Node.js ${version} could not be installed: ${lastLine(output)}`);
    rmSync(folder, { recursive: true, force: true });
    renameSync(fresh, folder);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return bin;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await runScript(main);
