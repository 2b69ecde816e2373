import { fieldOf, infoOfMasters, type RedisClient } from "./redis.ts";

/** Returns how many keys Redis has evicted since it started, over all masters: more than 0 means that work was lost. */
export async function readEvictedKeys(client: RedisClient): Promise<number> {
  const infos = await infoOfMasters(client, "stats");
  return infos.reduce((sum, info) => sum + Number(fieldOf(info, "evicted_keys") ?? 0), 0);
}
