import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildIfStale } from "./build.mjs";
import { installDependencies } from "./dependencies.mjs";
import { runScript, UserError } from "./user-error.mjs";

/** Builds, and runs test/soak/main.ts with the arguments; returns its exit code. */
async function main() {
  const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
  if (process.platform !== "linux")
    throw new UserError("the soak reads /proc, which only Linux has: run it there");
  const given = { root, say: console.log };
  await installDependencies(given);
  await buildIfStale(given);
  const args = ["--import", "tsx", join(root, "test/soak/main.ts"), ...process.argv.slice(2)];
  const child = spawn(process.execPath, args, { cwd: root, stdio: "inherit" });
  // The soak ends what it has started; a terminal's Ctrl-C reaches it anyway.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  return await new Promise(resolve => child.once("exit", code => resolve(code ?? 1)));
}

await runScript(main);
