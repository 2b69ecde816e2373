import type { Config } from "../../config.ts";
import { SetupError } from "../../lib/errors.ts";
import { settlesWithin } from "../../lib/time.ts";
import { SUPPORTED } from "../../lib/versions.ts";
import type { Platform } from "../../platform.ts";
import type { WithPlatform } from "../run.ts";
import { type Finding, judgeProgram, note, problem } from "./finding.ts";
import { checkNpm, checkSandbox } from "./machine.ts";
import { checkMongodb } from "./mongodb.ts";
import { checkQueues } from "./queues.ts";
import { checkReplays, checkSecrets, checkSetAside, checkWebhooks } from "./records.ts";
import { checkRedis } from "./redis.ts";
import { checkSources } from "./sources.ts";

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
