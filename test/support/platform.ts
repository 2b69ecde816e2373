import { randomBytes } from "node:crypto";
import { Cluster } from "ioredis";
import { type Config, readConfig } from "../../src/config.ts";
import { issueCountsOf } from "../../src/issues/issue-counts.ts";
import { openPlatform, type Platform } from "../../src/platform.ts";
import { chooseDatabase, type Database, prepareDatabase, returnDatabase } from "./databases.ts";
import { openSharedSandboxes } from "./shared-sandboxes.ts";

const required = (name: string): string => {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run the tests with npm test`);
  return value;
};

/**
 * Settings of a test: its own database and key prefix, loopback allowed, short waits; `env` overrides them. The database is a new
 * one, or `database`.
 */
export function testConfig(env: Record<string, string> = {}, database?: string): Config {
  const name = `t${randomBytes(6).toString("hex")}`;
  const mongodb = new URL(required("TEST_MONGODB_URL"));
  mongodb.pathname = `/${database ?? name}`;
  return readConfig({
    MONGODB_URL: mongodb.href,
    REDIS_URL: required("TEST_REDIS_URL"),
    REDIS_PREFIX: name,
    PORT: "0",
    SECRETS_KEY: randomBytes(32).toString("base64"),
    EGRESS_ALLOW: "127.0.0.0/8,::1/128",
    DELIVERY_RETRY_SCHEDULE: "100ms,200ms,300ms",
    SWEEP_EVERY: "1s",
    PAYLOAD_SEARCH_WORDS: "8",
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? "silent",
    ...env,
    TIMEOUTS: /\bstalled:/.test(env.TIMEOUTS ?? "")
      ? (env.TIMEOUTS ?? "")
      : `stalled:2s,${env.TIMEOUTS ?? ""}`,
  });
}

export interface TestPlatform extends Platform {
  /** Drops the database and deletes the keys, and closes the platform. */
  destroy(): Promise<void>;
}

/**
 * Opens a platform with the real stores, as the process of this name would. `ownSandboxes`: with a host that prepares everything
 * itself.
 */
export async function openTestPlatform(
  env: Record<string, string> = {},
  options: { process?: string; clock?: () => number; ownSandboxes?: boolean } = {},
): Promise<TestPlatform> {
  const database = chooseDatabase(env);
  const config = testConfig(env, database?.name);
  const platform = await openPlatform(config, options.process ?? "runs", {
    ...(options.clock && { clock: options.clock }),
    ...(!options.ownSandboxes && { openSandboxes: openSharedSandboxes }),
  });
  await prepareDatabase(platform.mongo, database);
  return Object.assign(platform, { destroy: () => destroy(platform, database) });
}

async function destroy(platform: Platform, database: Database | undefined): Promise<void> {
  // Otherwise its counts would come back after the database is empty.
  await platform.activity.close();
  await issueCountsOf(platform).close();
  await returnDatabase(platform.mongo, database);
  await dropKeys(platform);
  await platform.close();
}

/** Deletes every Redis key with the platform's prefix, BullMQ's too. */
export async function dropKeys(platform: Pick<Platform, "redis" | "config">): Promise<void> {
  const { redis, config } = platform;
  // A cluster is a test's own, and goes with it.
  if (redis instanceof Cluster) return;
  for (const pattern of [`${config.redisPrefix}:*`, `{${config.redisPrefix}:*`]) {
    let cursor = "0";
    do {
      const [next, found] = await redis.scan(cursor, "MATCH", pattern, "COUNT", 500);
      cursor = next;
      if (found.length > 0) await redis.del(...found);
    } while (cursor !== "0");
  }
}
