import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "./commands.mjs";
import { installDependencies } from "./dependencies.mjs";
import { withOwnStores } from "./own-stores.mjs";
import { installPythonPackages } from "./python-packages.mjs";
import { runScript, UserError } from "./user-error.mjs";

const HELP = `Usage: script/fuzz [--cases N] [--seconds N] [--seed N] [schemathesis options]

Starts a web process and workers with temporary stores, and sends every endpoint valid and invalid requests, which
schemathesis (from PyPI, pinned, installed into .cache/fuzz) generates from the OpenAPI document. Fails if a response is
a 5xx, or has a status, content type, header or body that the document does not describe. If schemathesis can't be
installed, this prints the reason and exits with 0.

  --cases N    at most N generated cases for each endpoint and phase (20)
  --seconds N  generate for at most N seconds (150)
  --seed N     generate the same cases again (by default a new seed each run, which is printed)

TEST_MONGODB_URL and TEST_REDIS_URL name stores to use instead.`;

const LOG = ".cache/fuzz/last.log";

async function main() {
  const args = process.argv.slice(2);
  if (args.includes("--help")) return console.log(HELP);
  const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
  const ending = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(name, () => ending.abort());
  const { signal } = ending;
  const given = { root, say: console.log, signal };
  await installDependencies(given);
  const packages = {
    requirements: "script/lib/fuzz-requirements.txt",
    cache: ".cache/fuzz",
    what: "schemathesis",
  };
  const { bin, missing } = await installPythonPackages({ ...given, ...packages });
  if (missing) return console.log(`fuzz: skipped, because schemathesis can't be installed: ${missing}`);
  let code = 1;
  const stores = { mongodbUrl: process.env.TEST_MONGODB_URL, redisUrl: process.env.TEST_REDIS_URL };
  await withOwnStores({ root, given: stores, say: console.log, signal }, async (urls, folder) => {
    process.env.TEST_MONGODB_URL = urls.mongodbUrl;
    process.env.TEST_REDIS_URL = urls.redisUrl;
    code = await fuzz({ root, program: join(bin, "schemathesis"), folder, args, signal });
  });
  return code;
}

/** Removes `--name value` from the arguments and returns the number, or `otherwise` if the option is absent. */
function option(args, name, otherwise) {
  const at = args.indexOf(`--${name}`);
  if (at < 0) return otherwise;
  const [, value] = args.splice(at, 2);
  if (!/^[0-9]+$/.test(value ?? ""))
    throw new UserError(`--${name} must be a number: see script/fuzz --help`);
  return Number(value);
}

async function fuzz({ root, program, folder, args, signal }) {
  const { register } = await import("tsx/esm/api");
  register();
  const { startFuzzTarget } = await import("../../test/contract/fuzz-target.ts");
  const cases = option(args, "cases", 20);
  const seconds = option(args, "seconds", 150);
  const seed = option(args, "seed", Math.floor(Math.random() * 2 ** 31));
  const target = await startFuzzTarget();
  try {
    const config = join(folder, "schemathesis.toml");
    const report = join(folder, "report.json");
    writeFileSync(config, target.config);
    const ours = [
      ...["--config-file", config, "run", target.documentUrl, "--no-color", "--warnings", "off"],
      ...["--header", `Authorization: Bearer ${target.apiKey}`],
      ...["--max-examples", String(cases), "--max-time", String(seconds)],
      ...["--seed", String(seed), "--generation-database", "none"],
      ...["--request-timeout", "20", "--continue-on-failure", "--report-json-path", report],
    ];
    console.log(`Fuzzing every endpoint for up to ${seconds} s (seed ${seed}) ...`);
    const { code, output } = await run(program, [...ours, ...args], {
      cwd: folder,
      logFile: join(root, LOG),
      signal,
    });
    const findings = /^=+ (?:FAILURES|ERRORS) =+$[\s\S]*?(?=^=+ SUMMARY =+$)/m.exec(output)?.[0];
    if (code !== 0) console.log(shorten(findings ?? output));
    console.log(summary(report, { code, seed }));
    return code;
  } finally {
    await target.stop();
  }
}

/** Cuts long lines and long output: a generated request may have tens of kilobytes. */
function shorten(output) {
  const lines = output.split("\n").map(line => (line.length > 300 ? `${line.slice(0, 300)} ...` : line));
  return lines.length > 400
    ? [...lines.slice(0, 400), `... (see ${LOG} for the rest)`].join("\n")
    : lines.join("\n");
}

function summary(report, { code, seed }) {
  const again = `(seed ${seed}; full output in ${LOG})`;
  if (!existsSync(report)) return `fuzz: schemathesis did not run ${again}`;
  const { test_cases, operations, running_time } = JSON.parse(readFileSync(report, "utf8"));
  const done = `${test_cases.generated} requests to ${operations.tested} endpoints in ${Math.round(running_time)} s`;
  const found = code === 0 ? "no findings" : `${test_cases.unique_failures + test_cases.errored} findings`;
  return `fuzz: ${done}, ${found} ${again}`;
}

await runScript(main);
