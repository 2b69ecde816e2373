import type { Redis } from "ioredis";
import { SetupError } from "../lib/errors.ts";
import { addressOf, askRedis } from "./ask-redis.ts";
import { fieldOf } from "./info.ts";
import type { RedisSettings } from "./redis-settings.ts";
import type { RedisServer } from "./redis-url.ts";

/** What Sentinels say of the server that they watch. */
export interface Watched {
  master: RedisServer;
  /** The master, its replicas, and the other Sentinels. */
  members: RedisServer[];
}

/** Asks one Sentinel. Throws as `askRedis` does, and SetupError if the server is none or watches no such master. */
export async function askSentinel(server: RedisServer, settings: RedisSettings): Promise<Watched> {
  const { sentinelUsername: username, sentinelPassword: password, family, tls } = settings;
  const name = settings.masterName ?? "";
  return await askRedis({ ...server, username, password, family, tls }, async redis => {
    if (fieldOf(await redis.info(), "redis_mode") !== "sentinel") {
      throw new SetupError(
        `REDIS_URL: ${addressOf(server)} is a Redis server, not a Sentinel: its URL begins with redis://`,
      );
    }
    const found = (await redis.call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", name)) as [string, string] | null;
    if (found === null) {
      const names = (await listOf(redis, "MASTERS")).map(one => one.name).join(", ");
      throw new SetupError(
        `REDIS_URL: the Sentinel ${addressOf(server)} does not watch a master named ${name}; it watches: ${names || "none"}`,
      );
    }
    const master = { host: found[0], port: Number(found[1]) };
    const others = [...(await listOf(redis, "REPLICAS", name)), ...(await listOf(redis, "SENTINELS", name))];
    const members = others.map(({ ip, port }) => ({ host: ip ?? "", port: Number(port) }));
    return { master, members: [master, ...members].filter(({ host, port }) => host !== "" && port > 0) };
  });
}

/** Returns what the first Sentinel says that responds. Throws what the last one met. */
export async function askSentinels(settings: RedisSettings): Promise<Watched> {
  let last: unknown;
  for (const server of settings.servers) {
    try {
      return await askSentinel(server, settings);
    } catch (error) {
      last = error;
    }
  }
  throw last;
}

/** A list of Sentinel's, each entry a flat list of names and values. */
async function listOf(redis: Redis, ...words: [string, ...string[]]): Promise<Record<string, string>[]> {
  const rows = (await redis.call("SENTINEL", ...words)) as string[][];
  return rows.map(row =>
    Object.fromEntries(row.flatMap((word, i) => (i % 2 === 0 ? [[word, row[i + 1] ?? ""]] : []))),
  );
}
