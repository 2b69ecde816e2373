import { setTimeout as delay } from "node:timers/promises";
import type { Redis } from "ioredis";
import { SetupError } from "../../lib/errors.ts";
import { addressOf, askRedis } from "./diagnose-redis.ts";
import { fieldOf } from "./redis.ts";
import type { RedisMode, RedisServer, RedisSettings, RedisTarget } from "./redis-url.ts";

/** Between two rounds over all servers. */
const PAUSE_MS = 200;

/**
 * Asks the servers that the settings name what they are, and returns how to reach Redis. Waits for servers that are away, and
 * for a cluster or a master that can't serve yet, until the deadline. Throws SetupError at once if a server is not what the
 * settings say, unless it is a Sentinel and another one may still respond, and at the deadline an error with the last reason.
 */
export async function findRedis(settings: RedisSettings, deadlineMs: number): Promise<RedisTarget> {
  const deadline = Date.now() + deadlineMs;
  for (;;) {
    const asked = await Promise.allSettled(settings.servers.map(server => ask(server, settings)));
    const found = asked.find(({ status }) => status === "fulfilled");
    const faults = asked.flatMap(one => (one.status === "rejected" ? [one.reason as Error] : []));
    const fault = faults.find(one => one instanceof SetupError);
    // One Sentinel may have forgotten its master; a server that is none of the cluster would take a part of the keys.
    const mayPass = found !== undefined || faults.some(one => !(one instanceof SetupError));
    if (fault && !(settings.mode === "sentinel" && mayPass)) throw fault;
    if (found?.status === "fulfilled") return found.value;
    if (Date.now() >= deadline)
      throw fault ?? new Error(`REDIS_URL: Redis did not respond (${faults[0]?.message})`);
    await delay(PAUSE_MS);
  }
}

const ask = async (server: RedisServer, settings: RedisSettings): Promise<RedisTarget> =>
  settings.mode === "sentinel"
    ? await throughSentinel(server, settings)
    : { ...settings, mode: await look(server, settings), members: [] };

async function throughSentinel(sentinel: RedisServer, settings: RedisSettings): Promise<RedisTarget> {
  const { master, members } = await askSentinel(sentinel, settings);
  await look(master, settings);
  return { ...settings, mode: "sentinel", members };
}

/** Returns how this server serves. Throws if it can't now, and SetupError if it is not what the settings say. */
async function look(server: RedisServer, settings: RedisSettings): Promise<RedisMode> {
  const { username, password, family, tls } = settings;
  return await askRedis({ ...server, username, password, family, tls }, async redis => {
    const at = addressOf(server);
    const info = await redis.info();
    if (fieldOf(info, "redis_mode") === "sentinel") {
      throw new SetupError(
        `REDIS_URL: ${at} is a Sentinel: the URL must be redis+sentinel://${at}/ followed by the name of its master`,
      );
    }
    const isCluster = fieldOf(info, "cluster_enabled") === "1";
    rejectOtherMode(at, settings, isCluster);
    if (isCluster) {
      await expectServing(redis, at);
      return "cluster";
    }
    const role = fieldOf(info, "role");
    if (role !== undefined && role !== "master")
      throw new Error(`${at} is a replica, which accepts no writes`);
    await expectDatabase(redis, at, settings.database);
    return "single";
  });
}

function rejectOtherMode(at: string, { mode, database }: RedisSettings, isCluster: boolean): void {
  if (!isCluster) {
    if (mode !== "cluster") return;
    throw new SetupError(`REDIS_URL: ${at} is not a node of a cluster, but a list of servers requires one`);
  }
  if (mode === "sentinel")
    throw new SetupError(`REDIS_URL: the Sentinels' master ${at} is a node of a cluster`);
  if (database > 0)
    throw new SetupError(`REDIS_URL: ${at} is a node of a cluster, which has only database 0`);
}

async function expectServing(redis: Redis, at: string): Promise<void> {
  const info = await redis.cluster("INFO");
  const state = fieldOf(info, "cluster_state");
  if (state === "ok") return;
  const slots = fieldOf(info, "cluster_slots_ok") ?? "0";
  throw new Error(`${at}: the state of the cluster is ${state}, with ${slots} of 16384 slots`);
}

/** The client itself would go on with database 0. */
async function expectDatabase(redis: Redis, at: string, database: number): Promise<void> {
  if (database === 0) return;
  try {
    await redis.select(database);
  } catch (error) {
    if (!/out of range|not allowed/.test((error as Error).message)) throw error;
    throw new SetupError(`REDIS_URL: ${at} has no database ${database}`);
  }
}

/** What Sentinels say of the server that they watch. */
interface Watched {
  master: RedisServer;
  /** The master, its replicas, and the other Sentinels. */
  members: RedisServer[];
}

/** Asks one Sentinel. Throws as `askRedis` does, and SetupError if the server is none or watches no such master. */
async function askSentinel(server: RedisServer, settings: RedisSettings): Promise<Watched> {
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
