import { setTimeout as delay } from "node:timers/promises";
import type { Redis } from "ioredis";
import { SetupError } from "../lib/errors.ts";
import { addressOf, askRedis } from "./ask-redis.ts";
import { askSentinel } from "./ask-sentinels.ts";
import { fieldOf } from "./info.ts";
import type { RedisSettings, RedisTarget } from "./redis-settings.ts";
import type { RedisMode, RedisServer } from "./redis-url.ts";

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
