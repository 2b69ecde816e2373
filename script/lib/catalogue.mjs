import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildIfStale } from "./build.mjs";
import { installDependencies } from "./dependencies.mjs";
import { withOwnServer } from "./own-server.mjs";
import { runScript } from "./user-error.mjs";

/** The npm script's arguments that choose a server, as `headwater catalogue` has them. */
const CHOOSES_SERVER = /^--(?:url|key|profile)(?:=|$)/;

/** Runs `headwater catalogue` with a server of its own, unless one is named; returns its exit code. */
async function main() {
  const args = process.argv.slice(2);
  const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
  const ending = new AbortController();
  const { signal } = ending;
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(name, () => ending.abort());
  // What is printed for a program is on the standard output.
  const given = { root, say: console.error, signal };
  await installDependencies(given);
  await buildIfStale(given);
  if (isHelp(args) || namesServer(args)) return runCommand(root, args, {}, signal);
  // Wrong input is known without a server, and reading it needs none.
  const noServer = { HEADWATER_URL: "http://127.0.0.1", HEADWATER_API_KEY: "none" };
  const words = ["--server", "own", ...args];
  const listed = await runCommand(root, [...words, "--list"], noServer, signal, args.includes("--list"));
  if (listed !== 0 || args.includes("--list")) return listed;
  console.error("Starting a server of its own for this run ...");
  const logFile = join(root, ".cache/catalogue.log");
  try {
    const env = hasAccounts(args) ? { SANDBOX_EGRESS_ALLOW: "none" } : {};
    return await withOwnServer({ ...given, logFile, env }, ({ url, apiKey }) => {
      const env = { HEADWATER_URL: url, HEADWATER_API_KEY: apiKey };
      // All that it makes goes with the server.
      return runCommand(root, ["--keep", ...words], env, signal);
    });
  } catch (error) {
    if (signal.aborted) return 1;
    throw error;
  }
}

/** Without a component to look at, too: the command says what is missing. */
const isHelp = args => args.length === 0 || args.some(arg => arg === "--help" || arg === "-h");

/** Made-up accounts are not for their vendors. */
const hasAccounts = args => args.some(arg => /^--accounts(?:=|$)/.test(arg));

function namesServer(args) {
  const { HEADWATER_URL, HEADWATER_PROFILE } = process.env;
  return Boolean(HEADWATER_URL || HEADWATER_PROFILE) || args.some(arg => CHOOSES_SERVER.test(arg));
}

function runCommand(root, args, env, signal, prints = true) {
  const child = spawn(process.execPath, [join(root, "dist/src/cli/main.js"), "catalogue", ...args], {
    // npm starts its scripts in the project; paths mean those of the person's own folder.
    cwd: process.env.INIT_CWD || process.cwd(),
    env: { ...process.env, ...env },
    stdio: ["inherit", prints ? "inherit" : "ignore", "inherit"],
  });
  // It deletes what it has made first. A terminal's Ctrl-C reaches it without this.
  signal.addEventListener("abort", () => child.kill("SIGTERM"), { once: true });
  return new Promise(resolve => child.once("exit", code => resolve(code ?? 1)));
}

await runScript(main);
