import { openRedisCluster } from "../support/redis-cluster.ts";
import { openWatchedRedis } from "../support/redis-sentinels.ts";
import type { RedisServers } from "./lab.ts";

/**
 * How long a server is silent before another one replaces it. On a machine that runs other tests a server may be silent for seconds, and
 * a failover without a fault could lose accepted events.
 */
export const AWAY_MS = { alone: 3000, besideOthers: 5000 };
/** Slots that are moved under load. */
const MOST_SLOTS = 60;

type Opened = RedisServers & { close(): Promise<void> };

/** Starts a Redis Cluster of three masters with a replica each. */
export async function openCluster(nodeTimeoutMs = AWAY_MS.alone): Promise<Opened> {
  const { url, nodes, masters, whole, moveSlots, close } = await openRedisCluster({ nodeTimeoutMs });
  const reshard = () => moveSlots(MOST_SLOTS);
  return { url, password: "", servers: nodes, sentinels: [], masters, whole, reshard, close };
}

/** Starts a Redis with two replicas, which want a password, and three Sentinels. */
export async function openSentinels(): Promise<Opened> {
  const password = "a-password";
  const watched = await openWatchedRedis({ password, downAfterMs: AWAY_MS.alone });
  const { url, servers, sentinels, whole, close } = watched;
  const masters = async () => [await watched.master()];
  return { url, password, servers, sentinels, masters, whole, reshard: async () => 0, close };
}
