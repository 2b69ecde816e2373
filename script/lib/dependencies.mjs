import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { lastLine, run } from "./commands.mjs";
import { UserError } from "./user-error.mjs";

/**
 * Whether node_modules holds what package-lock.json says. npm writes its own list there as the last step of an
 * install, so an interrupted one is seen too, and a checkout that only touched file dates costs no new install.
 */
export function areInstalled(root) {
  const hidden = join(root, "node_modules/.package-lock.json");
  if (!existsSync(hidden)) return false;
  const wanted = readPackages(join(root, "package-lock.json"));
  const installed = readPackages(hidden);
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === "") return true;
    const found = installed[path];
    // Packages of another platform are rightly absent.
    return found ? found.version === entry.version : Boolean(entry.optional || entry.devOptional || entry.os);
  });
}

function readPackages(file) {
  return JSON.parse(readFileSync(file, "utf8")).packages ?? {};
}

// esbuild and deno come as platform packages and work without install scripts. --include=dev: the compiler is one of
// them, and NODE_ENV=production would leave it out.
const OPTIONS = ["--ignore-scripts", "--include=dev", "--no-audit", "--no-fund", "--loglevel=error"];

/** Installs the locked dependencies unless they are there. Throws UserError when npm fails. */
export async function installDependencies({ root, say, signal }) {
  if (areInstalled(root)) return;
  say("Installing the dependencies (npm ci) ...");
  const npm = (...args) =>
    run("npm", [...args, ...OPTIONS], { cwd: root, logFile: join(root, ".cache/npm.log"), signal });
  let { code, output } = await npm("ci");
  if (code !== 0 && /code EUSAGE/.test(output)) {
    // A lock file made beside a registry that lacks other platforms' packages has no entries for them, and npm ci
    // refuses it. This takes the locked versions just as well, and leaves the lock file as it is.
    say("npm ci finds the lock file incomplete: installing with npm install --no-save ...");
    ({ code, output } = await npm("install", "--no-save"));
  }
  if (code !== 0) throw new UserError(messageOf(output));
}

function messageOf(output) {
  const reason = output.split("\n").find(line => /^npm error (?!code|errno|syscall|network$)/i.test(line));
  const isNetwork = /ENOTFOUND|EAI_AGAIN|ECONN|ETIMEDOUT|network/.test(output);
  const advice = isNetwork ? "check the network" : "see why there";
  const shown = (reason ?? lastLine(output)).replace(/^npm error /i, "");
  return `the dependencies could not be installed: ${shown} (all of it in .cache/npm.log): ${advice}, and start again`;
}
