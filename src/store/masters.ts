import { Cluster, type Redis } from "ioredis";
import type { RedisClient } from "./redis.ts";

/** Returns a client for each server that holds keys: the masters of a cluster, or the one server. */
export const mastersOf = (client: RedisClient): Redis[] =>
  client instanceof Cluster ? client.nodes("master") : [client];

/** Returns what each master says of itself: a section of `INFO`, or what it says without one. */
export const infoOfMasters = (client: RedisClient, section?: string): Promise<string[]> =>
  Promise.all(mastersOf(client).map(node => (section === undefined ? node.info() : node.info(section))));
