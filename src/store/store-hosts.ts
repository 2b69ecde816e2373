import { Cluster } from "ioredis";
import type { Connection } from "mongoose";
import type { RedisClient } from "./redis.ts";

/** Where a store listens; the host of an IPv6 address without its brackets. */
export interface StoreHost {
  host: string;
  port: number;
}

interface Opened {
  redis: RedisClient;
  redisUrls: readonly string[];
  mongo: Connection;
  mongodbUrl: string;
}

/** A cluster's nodes speak to each other there, as Redis documents it. */
const CLUSTER_BUS = 10_000;

/**
 * Where the platform's own stores are at this moment, for the egress guard: what the settings name, and what the
 * clients have found out since, for a replica set, a sharded cluster, `mongodb+srv` and a Redis Cluster have members
 * that no setting names. One that was seen once stays on the list: it may come back without our being told.
 */
export function storeHosts(opened: Opened): () => StoreHost[] {
  const seen = new Map<string, StoreHost>();
  const note = (hosts: StoreHost[]) => {
    for (const one of hosts) seen.set(`${one.host} ${one.port}`, one);
  };
  note(namedHosts(opened));
  return () => {
    note(mongoMembers(opened.mongo));
    if (opened.redis instanceof Cluster) {
      const nodes = [...opened.redisUrls.map(redisHost), ...clusterNodes(opened.redis)];
      note(nodes.flatMap(({ host, port }) => [port, port + CLUSTER_BUS].map(on => ({ host, port: on }))));
    }
    return [...seen.values()];
  };
}

/** What settings name, without asking the stores: a cluster's further members are not known from it. */
export function namedHosts(settings: Pick<Opened, "redisUrls" | "mongodbUrl">): StoreHost[] {
  return [...settings.redisUrls.map(redisHost), ...mongoSeeds(settings.mongodbUrl)];
}

function redisHost(url: string): StoreHost {
  const { hostname, port } = new URL(url);
  return { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || 6379) };
}

/** The hosts of the url; none for `mongodb+srv`, whose name is a question to DNS and no server. */
function mongoSeeds(url: string): StoreHost[] {
  const hosts = /^mongodb:\/\/(?:[^@/]*@)?([^/?]+)/.exec(url)?.[1] ?? "";
  return hosts.split(",").flatMap(host => hostAndPort(host) ?? []);
}

/** What the driver knows of the deployment: it keeps this current, and typed for itself only. */
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

/** `host`, `host:port` or `[v6]:port`; nothing for a Unix socket's path. */
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
