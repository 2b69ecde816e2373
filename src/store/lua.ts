import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { RedisClient } from "./redis.ts";

/** A script called by its hash, sent whole when the server does not know it (after a restart). */
export type Script<Answer> = (
  redis: RedisClient,
  keys: string[],
  args: (string | number)[],
) => Promise<Answer>;

/** Loads `lua/<name>.lua`, those before the last for the functions in them; the file's head says what it takes and returns. */
export function script<Answer>(...names: string[]): Script<Answer> {
  const source = names
    .map(name => readFileSync(new URL(`./lua/${name}.lua`, import.meta.url), "utf8"))
    .join("\n");
  const sha = createHash("sha1").update(source).digest("hex");
  return async (redis, keys, args) => {
    try {
      return (await redis.evalsha(sha, keys.length, ...keys, ...args)) as Answer;
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith("NOSCRIPT"))) throw error;
      return (await redis.eval(source, keys.length, ...keys, ...args)) as Answer;
    }
  };
}
