import { fileURLToPath } from "node:url";
import { buildIfStale } from "./build.mjs";
import { runScript } from "./complaint.mjs";
import { installDependencies } from "./dependencies.mjs";

const HELP = `Usage: script/bootstrap

Makes a clone ready to run: installs the locked dependencies (npm ci) and builds dist/.
Each step is left out when what it makes is up to date.`;

await runScript(async () => {
  if (process.argv.includes("--help")) return console.log(HELP);
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const given = { root, say: console.log };
  await installDependencies(given);
  await buildIfStale(given);
});
