import { openRedisCluster } from "../support/redis-cluster.ts";
import { openWatchedRedis } from "../support/redis-sentinels.ts";
import type { RedisServers } from "./lab.ts";

/** On a busy machine a server may be silent for seconds: a failover without a fault could lose accepted events. */
const AWAY_MS = 5000;

type Opened = RedisServers & { close(): Promise<void> };

/** Starts a Redis Cluster of three masters with a replica each. */
export async function openCluster(): Promise<Opened> {
  const { url, nodes, masters, whole, close } = await openRedisCluster({ nodeTimeoutMs: AWAY_MS });
  return { url, servers: nodes, sentinels: [], masters, whole, close };
}

/** Starts a Redis with two replicas, which want a password, and three Sentinels. */
export async function openSentinels(): Promise<Opened> {
  const watched = await openWatchedRedis({ password: "a-password", downAfterMs: AWAY_MS });
  const { url, servers, sentinels, whole, close } = watched;
  return { url, servers, sentinels, masters: async () => [await watched.master()], whole, close };
}
