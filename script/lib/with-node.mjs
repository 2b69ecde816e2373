import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { installNpmPackages } from "./npm-packages.mjs";
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
  await installNpmPackages({ folder, packages: [`${name}@${version}`], what: `Node.js ${version}`, say });
  return join(folder, "node_modules", name, "bin");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await runScript(main);
