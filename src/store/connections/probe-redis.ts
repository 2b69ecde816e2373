import { setTimeout as delay } from "node:timers/promises";
import { Cluster, Command } from "ioredis";
import { AppError, SetupError } from "../../lib/errors.ts";
import { fieldOf, infoOfMasters, mastersOf, type RedisClient } from "./redis.ts";
import { checkRedisVersion, type WarnOfVersion } from "./server-versions.ts";

const SLOTS = 16_384;
/** How long the key of a write probe stays. Seconds. */
const KEPT_S = 60;

/** Returns the share of its memory that the fullest Redis master uses: of `maxmemory`, or of the machine's memory. */
export async function readMemoryShare(client: RedisClient): Promise<number> {
  const shares = (await infoOfMasters(client, "memory")).map(info => {
    const bytes = (name: string) => Number(fieldOf(info, name) ?? 0);
    const limit = bytes("maxmemory") || bytes("total_system_memory");
    return limit === 0 ? 0 : bytes("used_memory") / limit;
  });
  return Math.max(0, ...shares);
}

/**
 * Throws with what is wrong if a Redis master takes no writes or may evict keys, or if a cluster can't serve each slot: PING
 * succeeds in all these cases.
 */
export async function probeRedis(client: RedisClient, key: string): Promise<void> {
  const write = (to: string) => client.set(to, Date.now().toString(), "EX", KEPT_S);
  if (client instanceof Cluster) {
    await expectWhole(client);
    await Promise.all((await keyOfEachMaster(client, key)).map(write));
  } else {
    await write(key);
  }
  await rejectEviction(client);
}

/** Throws if a Redis master may evict keys: it would lose jobs as soon as its memory is full (docs/design.md#stores). */
export async function rejectEviction(client: RedisClient): Promise<void> {
  const policies = (await infoOfMasters(client, "memory")).map(info => fieldOf(info, "maxmemory_policy"));
  const policy = policies.find(one => one !== undefined && one !== "noeviction");
  if (policy === undefined) return;
  throw new SetupError(
    `REDIS_URL: Redis may evict keys: maxmemory-policy is ${policy}, but must be noeviction`,
  );
}

/** Throws Redis' NOPERM error if the user may not publish on our channels, as live streams and responses of runs need. */
async function probeChannels(client: RedisClient, channel: string): Promise<void> {
  await client.publish(channel, "");
}

/** Throws if a master says that the cluster can't serve. */
async function expectWhole(cluster: Cluster): Promise<void> {
  const infos = await Promise.all(mastersOf(cluster).map(node => node.cluster("INFO")));
  const state = infos.map(info => fieldOf(info, "cluster_state")).find(one => one !== "ok");
  if (state !== undefined) throw new Error(`the state of the Redis Cluster is ${state}`);
}

type SlotRange = [from: number, to: number, master: [host: string, port: number, ...rest: unknown[]]];

/** Returns a key in a slot of each master. Throws if slots have none. */
async function keyOfEachMaster(cluster: Cluster, key: string): Promise<string[]> {
  const ranges = (await cluster.cluster("SLOTS")) as unknown as SlotRange[];
  const served = ranges.reduce((sum, [from, to]) => sum + to - from + 1, 0);
  if (served < SLOTS) throw new Error(`${SLOTS - served} slots of the Redis Cluster have no master`);
  const masterOf = (slot: number) => {
    const [, , [host, port] = []] = ranges.find(([from, to]) => from <= slot && slot <= to) ?? [];
    return `${host}:${port}`;
  };
  const masters = new Set(ranges.map(([from]) => masterOf(from)));
  const keys = new Map<string, string>();
  for (let n = 0; keys.size < masters.size && n < 4 * SLOTS; n++) {
    const candidate = `${key}:{${n}}`;
    const master = masterOf(new Command("set", [candidate]).getSlot());
    if (!keys.has(master)) keys.set(master, candidate);
  }
  return [...keys.values()];
}

/** Between two tries. Milliseconds. */
const AGAIN_MS = 200;

interface Options {
  /** A channel of ours without listeners. */
  channel: string;
  warn: WarnOfVersion;
  /** How long Redis may be away in the middle of a start. */
  deadlineMs: number;
}

/**
 * Looks at a Redis that a process is about to work with. Throws SetupError if it may evict keys or is too old, Redis' NOPERM error
 * if the user may not use channels, and `unavailable` if it is away until the deadline.
 */
export async function rejectUnusableRedis(
  redis: RedisClient,
  { channel, warn, deadlineMs }: Options,
): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    try {
      await rejectEviction(redis);
      await probeChannels(redis, channel);
      return await checkRedisVersion(redis, warn);
    } catch (error) {
      const isAway = error instanceof AppError && error.code === "unavailable";
      if (!isAway || performance.now() >= deadline) throw error;
      await delay(AGAIN_MS);
    }
  }
}

/** Returns how many keys Redis has evicted since it started, over all masters: more than 0 means that work was lost. */
export async function readEvictedKeys(client: RedisClient): Promise<number> {
  const infos = await infoOfMasters(client, "stats");
  return infos.reduce((sum, info) => sum + Number(fieldOf(info, "evicted_keys") ?? 0), 0);
}
