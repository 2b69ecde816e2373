import { fileURLToPath } from "node:url";
import { buildIfStale } from "./build.mjs";
import { installDependencies } from "./dependencies.mjs";
import { runScript } from "./user-error.mjs";

const HELP = `Usage: script/bootstrap

Makes a clone ready to run: installs the locked dependencies (npm ci) and builds dist/.
A step is skipped if its result is up to date.`;

await runScript(async () => {
  if (process.argv.includes("--help")) return console.log(HELP);
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const given = { root, say: console.log };
  await installDependencies(given);
  await buildIfStale(given);
});
