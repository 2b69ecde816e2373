import { Cluster } from "ioredis";
import type { Connection } from "mongoose";
import { askSentinels } from "./find-redis.ts";
import type { RedisClient } from "./redis.ts";
import type { RedisServer, RedisTarget } from "./redis-url.ts";

/** Where a store listens; an IPv6 host is without brackets. */
export type StoreHost = RedisServer;

interface Opened {
  redis: RedisClient;
  redisTarget: RedisTarget;
  mongo: Connection;
  mongodbUrl: string;
}

/** The nodes of a cluster talk to each other on their port plus this, as Redis documents. */
const CLUSTER_BUS = 10_000;

/**
 * Returns a function that lists where the platform's own stores are now, for the egress guard: the hosts that the settings
 * name, and those that the clients discovered, because a replica set, a sharded cluster, `mongodb+srv`, a Redis Cluster and
 * Sentinels have members that no setting names. A host stays on the list once it was seen, because it may come back unannounced.
 */
export function storeHosts(opened: Opened): () => StoreHost[] {
  const seen = new Map<string, StoreHost>();
  const note = (hosts: StoreHost[]) => {
    for (const one of hosts) seen.set(`${one.host} ${one.port}`, one);
  };
  const { redis, redisTarget } = opened;
  note([...redisTarget.servers, ...redisTarget.members, ...mongoSeeds(opened.mongodbUrl)]);
  if (redisTarget.mode === "sentinel") {
    // After a failover, and when a replica was added since.
    redis.on("ready", () => void askSentinels(redisTarget).then(({ members }) => note(members), ignore));
  }
  return () => {
    note(mongoMembers(opened.mongo));
    if (redis instanceof Cluster) {
      const nodes = [...redisTarget.servers, ...clusterNodes(redis)];
      note(nodes.flatMap(({ host, port }) => [port, port + CLUSTER_BUS].map(on => ({ host, port: on }))));
    }
    return [...seen.values()];
  };
}

/** Returns the hosts that settings name, without asking the stores for further members. */
export function namedHosts(settings: {
  redis: Pick<RedisTarget, "servers">;
  mongodbUrl: string;
}): StoreHost[] {
  return [...settings.redis.servers, ...mongoSeeds(settings.mongodbUrl)];
}

const ignore = () => undefined;

/** Returns the hosts of the URL; none for `mongodb+srv`, whose name is a DNS query and not a server. */
function mongoSeeds(url: string): StoreHost[] {
  const hosts = /^mongodb:\/\/(?:[^@/]*@)?([^/?]+)/.exec(url)?.[1] ?? "";
  return hosts.split(",").flatMap(host => hostAndPort(host) ?? []);
}

/** What the driver knows of the deployment; it keeps this current, but does not export the type. */
interface Topology {
  description?: {
    servers: ReadonlyMap<
      string,
      { address: string; hosts?: string[]; passives?: string[]; arbiters?: string[] }
    >;
  };
}

function mongoMembers(mongo: Connection): StoreHost[] {
  const { topology } = mongo.getClient() as unknown as { topology?: Topology };
  const servers = [...(topology?.description?.servers.values() ?? [])];
  return servers
    .flatMap(one => [one.address, ...(one.hosts ?? []), ...(one.passives ?? []), ...(one.arbiters ?? [])])
    .flatMap(host => hostAndPort(host) ?? []);
}

/** Parses `host`, `host:port` or `[v6]:port`; returns undefined for the path of a Unix socket. */
function hostAndPort(text: string): StoreHost | undefined {
  const [, v6, name, port] = /^(?:\[([^\]]+)\]|([^:%/]+))(?::(\d+))?$/.exec(text) ?? [];
  const host = v6 ?? name;
  return host === undefined ? undefined : { host, port: Number(port ?? 27017) };
}

function clusterNodes(cluster: Cluster): StoreHost[] {
  return cluster
    .nodes("all")
    .flatMap(({ options: { host, port } }) => (host && port ? [{ host, port }] : []));
}
