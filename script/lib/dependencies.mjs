import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { lastLine, run } from "./commands.mjs";
import { UserError } from "./user-error.mjs";

/**
 * Whether node_modules has the packages of package-lock.json. npm writes its own list there as the last step of an
 * install, so this detects an interrupted install. The list alone is not enough: `npm install --package-lock-only`
 * changes it too, and installs nothing.
 */
export function areInstalled(root) {
  if (!existsSync(join(root, "node_modules/.package-lock.json"))) return false;
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  return Object.entries(packages).every(([path, entry]) => {
    if (path === "") return true;
    const version = versionIn(join(root, path));
    const wanted = entry.link ? packages[entry.resolved].version : entry.version;
    // npm leaves out the packages of other platforms.
    return version ? version === wanted : Boolean(entry.optional || entry.devOptional || entry.os);
  });
}

function versionIn(folder) {
  try {
    return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).version;
  } catch {
    return undefined;
  }
}

// esbuild and deno come as platform packages and work without install scripts. The compiler is a dev dependency, which
// npm would leave out with NODE_ENV=production.
const OPTIONS = ["--ignore-scripts", "--include=dev", "--no-audit", "--no-fund", "--loglevel=error"];

/** Installs the locked dependencies if any is missing. Throws UserError if npm fails. */
export async function installDependencies({ root, say, signal }) {
  if (areInstalled(root)) return;
  say("Installing the dependencies (npm ci, about a minute) ...");
  const { code, output } = await run("npm", ["ci", ...OPTIONS], {
    cwd: root,
    logFile: join(root, ".cache/npm.log"),
    signal,
  });
  if (code !== 0) throw new UserError(messageOf(output));
}

function messageOf(output) {
  const reason = output.split("\n").find(line => /^npm error (?!code|errno|syscall|network$)/i.test(line));
  const isNetwork = /ENOTFOUND|EAI_AGAIN|ECONN|ETIMEDOUT|network/.test(output);
  const advice = isNetwork ? "check the network" : "fix the cause";
  const shown = (reason ?? lastLine(output)).replace(/^npm error /i, "");
  return `the dependencies could not be installed: ${shown} (see .cache/npm.log): ${advice}, and start again`;
}
