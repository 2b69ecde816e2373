import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runScript, UserError } from "./user-error.mjs";

/**
 * What is wrong with a lockfile (its parsed JSON), one line each: a dependency without an entry, of any platform, with
 * which `npm ci` fails; an entry without a checksum; an entry with the address of one registry.
 */
export function lockfileProblems({ packages }) {
  const entries = Object.entries(packages);
  const missing = entries.flatMap(([path, entry]) =>
    Object.keys({ ...entry.dependencies, ...entry.devDependencies, ...entry.optionalDependencies })
      .filter(name => !resolves(packages, path, name))
      .map(name => `${name} has no entry (${path || "package.json"} depends on it)`),
  );
  // The project itself, its workspaces and the links to them are folders of the repository.
  const installed = entries.filter(([path, { link }]) => path.includes("node_modules/") && !link);
  const unchecked = installed
    .filter(([, { integrity }]) => !integrity)
    .map(([path]) => `${path} has no integrity`);
  const bound = installed.filter(([, { resolved }]) => resolved).map(([path]) => `${path} names a registry`);
  return [...missing, ...unchecked, ...bound];
}

/** Whether a package at this path finds the dependency in its own node_modules or in one above it. */
function resolves(packages, path, name) {
  const folder = path === "" ? "" : `${path}/`;
  if (packages[`${folder}node_modules/${name}`]) return true;
  if (path === "") return false;
  const above = path.slice(0, Math.max(0, path.lastIndexOf("node_modules/")));
  return resolves(packages, above.replace(/\/$/, ""), name);
}

// `npm run lockfile`
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await runScript(() => {
    const file = join(fileURLToPath(new URL("../..", import.meta.url)), "package-lock.json");
    const problems = lockfileProblems(JSON.parse(readFileSync(file, "utf8")));
    if (problems.length === 0) return;
    const advice = "run npm install --package-lock-only against a registry that has every package";
    throw new UserError(`package-lock.json is not complete: ${advice}\n${problems.join("\n")}`);
  });
}
