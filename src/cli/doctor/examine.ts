import { type Config, ConfigError, readConfig } from "../../config.ts";
import { settlesWithin } from "../../lib/deadline.ts";
import { createLogger } from "../../lib/logger.ts";
import { openPlatform, type Platform } from "../../platform.ts";
import { checkMongodb } from "./check-mongodb.ts";
import { checkNpm } from "./check-npm.ts";
import { checkQueues } from "./check-queues.ts";
import { checkRedis } from "./check-redis.ts";
import { checkSandbox } from "./check-sandbox.ts";
import { checkSetAside, type ListSetAside } from "./check-set-aside.ts";
import { checkSources } from "./check-sources.ts";
import { checkWebhooks } from "./check-webhooks.ts";
import { type Finding, note, problem } from "./finding.ts";

/** A check that takes longer says so instead of stopping those after it. */
const CHECK_MS = 60_000;

type Check = readonly [name: string, check: () => Promise<Finding | Finding[]>];

/**
 * Checks this machine and the whole installation, one check after the other, and returns what was found. A check that
 * fails is a finding itself. `listSetAside` returns what the reconciler has set aside.
 */
export async function examine(listSetAside: ListSetAside): Promise<Finding[]> {
  let config: Config;
  try {
    config = readConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [problem("settings", error.message, "correct the environment of every process")];
  }
  const stores = await run([
    ["MongoDB", () => checkMongodb(config.mongodbUrl)],
    ["Redis", () => checkRedis(config.redisUrls)],
    ["npm", () => checkNpm(config.npmEnvironment)],
  ]);
  const isDown = stores.some(({ message }) => message.includes("not respond"));
  if (isDown) {
    const advice = "repeat this when both stores respond";
    return [...stores, note("everything else", "is not checked without the stores", advice)];
  }
  const log = createLogger("cli", "silent");
  const platform = await openPlatform(config, "cli", { log });
  try {
    return [...stores, ...(await run(checksOf(platform, listSetAside)))];
  } finally {
    await platform.close();
  }
}

const checksOf = (platform: Platform, listSetAside: ListSetAside): Check[] => [
  ["sandbox", () => checkSandbox(platform)],
  ["queues", () => checkQueues(platform)],
  ["sources", () => checkSources(platform)],
  ["reconciler", () => checkSetAside(platform, listSetAside)],
  ["webhooks", () => checkWebhooks(platform)],
];

async function run(checks: readonly Check[]): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const [name, check] of checks) {
    const checking = check();
    try {
      if (await settlesWithin(checking, CHECK_MS)) found.push(...[await checking].flat());
      else found.push(problem(name, "the check takes over a minute", "the stores may be overloaded"));
    } catch (error) {
      const message = (error as Error).message.replace(/\s+/g, " ");
      found.push(
        problem(name, `can't be checked: ${message}`, "repeat it, and look at the log of the stores"),
      );
    }
  }
  return found;
}
