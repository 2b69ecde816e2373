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

/** Starts to count; the returned function returns what was counted since then, without what an idle system asks. */
export async function countRoundTrips(stores: Stores, idlePerSecond: RoundTrips = {}) {
  const redis = stores.redisUrl.split(",").map(url => new Redis(url));
  const mongo = await mongoose.createConnection(stores.mongodbUrl).asPromise();
  const before = await readCounts(redis, mongo);
  const startedAt = performance.now();
  return async (): Promise<RoundTrips> => {
    const after = await readCounts(redis, mongo);
    const seconds = (performance.now() - startedAt) / 1000;
    for (const server of redis) server.disconnect();
    await mongo.close();
    return Object.fromEntries(
      Object.entries(after).map(([name, count]) => [
        name,
        count - (before[name] ?? 0) - (idlePerSecond[name] ?? 0) * seconds,
      ]),
    );
  };
}

/** Counts for some seconds, and returns the counts per second. */
export async function countPerSecond(stores: Stores, seconds: number): Promise<RoundTrips> {
  const stop = await countRoundTrips(stores);
  await new Promise(resolve => setTimeout(resolve, seconds * 1000));
  return divided(await stop(), seconds);
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
