import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { lastLine, run } from "./commands.mjs";
import { UserError } from "./user-error.mjs";

// With its errors, also below `npm run --silent`.
const NPM = ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];

/**
 * Installs packages of the npm registry, each named with its version, into a folder of their own, once. The dependencies of the
 * project stay as they are. `bin` is the folder of the Node.js that will run them, which npm checks; this one by default. Throws
 * UserError with npm's reason.
 */
export async function installNpmPackages({ folder, packages, what, say, bin = dirname(process.execPath) }) {
  if (existsSync(folder)) return;
  say(`Installing ${what} into .cache (once) ...`);
  // An installation that was interrupted is not taken for a complete one.
  const fresh = `${folder}-${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  try {
    // Its own package.json, so that npm installs here and not in the project above.
    writeFileSync(join(fresh, "package.json"), '{ "private": true }\n');
    const logFile = join(dirname(folder), "npm-packages.log");
    const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
    const args = [...NPM, "--prefix", fresh, ...packages];
    const { code, output } = await run("npm", args, { cwd: fresh, env, logFile });
    if (code !== 0) throw new UserError(`${what} could not be installed: ${lastLine(output)}`);
    if (!existsSync(folder)) renameSync(fresh, folder);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}
