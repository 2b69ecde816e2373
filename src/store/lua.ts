import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { RedisClient } from "./connections/redis.ts";

/** A script, called by its hash and sent whole if the server does not know it, for example after a restart. */
export type Script<Result> = (
  redis: RedisClient,
  keys: string[],
  args: (string | number)[],
) => Promise<Result>;

/**
 * Loads `lua/<name>.lua`; files before the last one only define functions for it. The head of each file says what it takes
 * and returns.
 */
export function script<Result>(...names: string[]): Script<Result> {
  const source = names
    .map(name => readFileSync(new URL(`./lua/${name}.lua`, import.meta.url), "utf8"))
    .join("\n");
  const sha = createHash("sha1").update(source).digest("hex");
  return async (redis, keys, args) => {
    try {
      return (await redis.evalsha(sha, keys.length, ...keys, ...args)) as Result;
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith("NOSCRIPT"))) throw error;
      return (await redis.eval(source, keys.length, ...keys, ...args)) as Result;
    }
  };
}
