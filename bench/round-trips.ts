import { setTimeout as delay } from "node:timers/promises";
import { Redis } from "ioredis";
import mongoose from "mongoose";
import type { Stores } from "./stores.ts";

/**
 * How often each thing was asked of the stores: requests that Redis read from sockets (pipelined commands share one),
 * requests that MongoDB received, and calls of each command, of Redis also those that its scripts call.
 */
export type RoundTrips = Record<string, number>;

export const REDIS_READS = "Redis requests";
export const MONGODB_REQUESTS = "MongoDB requests";

/** Calls `work`, and returns its result and what was counted meanwhile, without what an idle system asks. */
export async function countRoundTrips<Result>(
  stores: Stores,
  work: () => Promise<Result>,
  idlePerSecond: RoundTrips = {},
): Promise<{ result: Result; counts: RoundTrips }> {
  const mongo = await mongoose.createConnection(stores.mongodbUrl).asPromise();
  const redis = stores.redisUrl.split(",").map(url => new Redis(url));
  try {
    const before = await readCounts(redis, mongo);
    const startedAt = performance.now();
    const result = await work();
    const after = await readCounts(redis, mongo);
    const seconds = (performance.now() - startedAt) / 1000;
    const counts = Object.entries(after).map(([name, count]) => [
      name,
      count - (before[name] ?? 0) - (idlePerSecond[name] ?? 0) * seconds,
    ]);
    return { result, counts: Object.fromEntries(counts) };
  } finally {
    for (const server of redis) server.disconnect();
    await mongo.close();
  }
}

/** Counts for some seconds, and returns the counts per second. */
export async function countPerSecond(stores: Stores, seconds: number): Promise<RoundTrips> {
  const { counts } = await countRoundTrips(stores, () => delay(seconds * 1000));
  return divided(counts, seconds);
}

/** Returns how many commands Redis executed, those that scripts call too. */
export const redisCommands = (counts: RoundTrips): number =>
  Object.entries(counts).reduce(
    (sum, [name, count]) => sum + (name.startsWith("Redis ") && name !== REDIS_READS ? count : 0),
    0,
  );

export function divided(counts: RoundTrips, by: number): RoundTrips {
  return Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, count / by]));
}

interface ServerStatus {
  network: { numRequests: number };
  metrics: { commands: Record<string, { total?: number }> };
}

async function readCounts(redis: Redis[], mongo: mongoose.Connection): Promise<RoundTrips> {
  const ofServers = await Promise.all(redis.map(readRedisCounts));
  const status: unknown = await mongo.db?.admin().serverStatus();
  const { network, metrics } = status as ServerStatus;
  const commands = Object.entries(metrics.commands).filter(([, { total }]) => total !== undefined);
  return {
    ...sumOf(ofServers),
    [MONGODB_REQUESTS]: Number(network.numRequests),
    ...Object.fromEntries(commands.map(([name, { total }]) => [`MongoDB ${name}`, Number(total)])),
  };
}

async function readRedisCounts(redis: Redis): Promise<RoundTrips> {
  const [stats, commands] = await Promise.all([redis.info("stats"), redis.info("commandstats")]);
  const calls = [...commands.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)];
  return {
    [REDIS_READS]: Number(/^total_reads_processed:(\d+)/m.exec(stats)?.[1]),
    ...Object.fromEntries(calls.map(([, name, count]) => [`Redis ${name}`, Number(count)])),
  };
}

function sumOf(all: RoundTrips[]): RoundTrips {
  const sum: RoundTrips = {};
  for (const counts of all) {
    for (const [name, count] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + count;
  }
  return sum;
}
