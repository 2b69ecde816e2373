import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { promisify } from "node:util";
import { npmEnvironment } from "../../components/run-npm.ts";
import type { Config } from "../../config.ts";
import { SetupError } from "../../lib/errors.ts";
import { settlesWithin } from "../../lib/time.ts";
import { SUPPORTED } from "../../lib/versions.ts";
import type { Platform, Sandboxed } from "../../platform.ts";
import type { WithPlatform } from "../run.ts";
import { type Finding, judgeProgram, note, ok, problem } from "./finding.ts";
import { checkQueues, checkSources } from "./queues.ts";
import { checkReplays, checkSecrets, checkSetAside, checkWebhooks } from "./records.ts";
import { checkMongodb, checkRedis } from "./stores.ts";

/** A check that takes longer says so instead of stopping those after it. */
const CHECK_MS = 60_000;

export interface DoctorDeps {
  /** Throws ConfigError. */
  readSettings: () => Promise<Config>;
  withPlatform: WithPlatform;
}

type Check = readonly [name: string, check: () => Promise<Finding | Finding[]>];

/**
 * Checks this machine and the whole installation, one check after the other, and returns what was found. A check that
 * fails is a finding itself.
 */
export async function examine({ readSettings, withPlatform }: DoctorDeps): Promise<Finding[]> {
  let config: Config;
  try {
    config = await readSettings();
  } catch (error) {
    if (!(error instanceof Error && error.name === "ConfigError")) throw error;
    return [problem("settings", error.message, "correct the environment of every process")];
  }
  const stores = await run([
    ["MongoDB", () => checkMongodb(config.mongodbUrl)],
    ["Redis", () => checkRedis(config.redis)],
    ["Node.js", async () => judgeProgram(SUPPORTED.node, process.versions.node)],
    ["npm", () => checkNpm(config.npmEnvironment)],
  ]);
  const isDown = stores.some(({ message }) => message.includes("not respond"));
  if (isDown) {
    const advice = "repeat this when both stores respond";
    return [...stores, note("everything else", "was not checked, because a store does not respond", advice)];
  }
  try {
    return [...stores, ...(await withPlatform(platform => run(checksOf(platform))))];
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    const advice = "correct it, and repeat this";
    return [...stores, problem("everything else", `was not checked: ${error.message}`, advice)];
  }
}

const checksOf = (platform: Platform): Check[] => [
  ["sandbox", () => checkSandbox(platform)],
  ["queues", () => checkQueues(platform)],
  ["sources", () => checkSources(platform)],
  ["reconciler", () => checkSetAside(platform)],
  ["replays", () => checkReplays(platform)],
  ["webhooks", () => checkWebhooks(platform)],
  ["secrets", () => checkSecrets(platform)],
];

async function run(checks: readonly Check[]): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const [name, check] of checks) {
    const checking = check();
    try {
      if (await settlesWithin(checking, CHECK_MS)) found.push(...[await checking].flat());
      else found.push(problem(name, "the check took over a minute", "the stores may be overloaded"));
    } catch (error) {
      const message = (error as Error).message.replace(/\s+/g, " ");
      found.push(
        problem(name, `can't be checked: ${message}`, "repeat it, and look at the log of the stores"),
      );
    }
  }
  return found;
}

const TIMEOUT_MS = 20_000;
/** Earlier versions ignore the options that keep npm away from everything but the registry. */
const MIN_MAJOR = 11;
const ADVICE = `install npm ${MIN_MAJOR} or newer: npm install --global npm@${MIN_MAJOR}`;

/** Checks the npm that fetches the packages of components. `environment` is what npm may see of this process's own. */
export async function checkNpm(environment: NodeJS.ProcessEnv): Promise<Finding> {
  try {
    const env = npmEnvironment(environment, tmpdir());
    const { stdout } = await promisify(execFile)("npm", ["--version"], { env, timeout: TIMEOUT_MS });
    return judgeNpm(stdout.trim());
  } catch (error) {
    const [reason = ""] = (error as Error).message.split("\n");
    return problem("npm", `can't be run: ${reason}`, ADVICE);
  }
}

/** Judges a version of npm. Pure. */
export function judgeNpm(version: string): Finding {
  if (Number.parseInt(version, 10) >= MIN_MAJOR) return ok("npm", `version ${version}`);
  const message = `version ${version} lets a package of a component make npm fetch any address`;
  return problem("npm", message, ADVICE);
}

const PROBE = { hash: "doctor", code: `export default { name: "Probe", version: "0.0.1", run() {} };` };

/** Starts a sandbox on this machine, and says which of the system's restrictions it has. */
export async function checkSandbox(platform: Sandboxed): Promise<Finding[]> {
  try {
    const sandboxes = await platform.sandboxes();
    await sandboxes.describe(PROBE);
    const { active, missing } = sandboxes.privileges;
    const has = ok(
      "sandbox",
      `can be started here, with ${active.length > 0 ? active.join(", ") : "Deno's own limits only"}`,
    );
    if (missing.length === 0) return [has];
    const advice =
      "run the workers as root on Linux with util-linux (docs/decisions/0010-sandbox-privileges.md)";
    return [has, note("sandbox", `this system lacks: ${missing.join(", ")}`, advice)];
  } catch (error) {
    const { message, cause } = error as Error;
    const reason = cause instanceof Error ? `${message}: ${cause.message}` : message;
    return [
      problem(
        "sandbox",
        reason.replace(/\s+/g, " "),
        "check the disk, the limits of processes and files, and deno",
      ),
    ];
  }
}
