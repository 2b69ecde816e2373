import { script } from "./lua.ts";
import type { RedisClient } from "./redis.ts";

const take = script<number>("take-lock");

/** Takes or renews a lock; true while it is `token`'s. */
export async function takeLock(
  redis: RedisClient,
  key: string,
  token: string,
  lifeMs: number,
): Promise<boolean> {
  return (await take(redis, [key], [token, lifeMs])) === 1;
}
