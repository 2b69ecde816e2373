import { Cluster, type Redis } from "ioredis";
import { tlsFor } from "./diagnose-redis.ts";
import { openWorkerRedis, type RedisClient } from "./redis.ts";
import type { RedisServer, RedisTarget } from "./redis-url.ts";

/**
 * Opens a client for messages, beside `redis`, the process's client for commands. In a cluster it is connected to one of the
 * nodes, each of which sends every message, and goes to another one if that is lost. It emits `close` then, because
 * messages may have been missed: ioredis' own client for clusters changes the node without a word.
 */
export function openSubscriberRedis(target: RedisTarget, redis: RedisClient): RedisClient {
  if (!(redis instanceof Cluster)) return openWorkerRedis(target);
  const first = someNode(redis, target);
  const subscriber = openWorkerRedis({ ...target, mode: "single", servers: [first] }) as Redis;
  // The client reads its options each time it connects.
  const moveOn = () => {
    const node = someNode(redis, target);
    Object.assign(subscriber.options, node, target.tls && { tls: tlsFor(target.tls, node.host) });
  };
  const isOurs = ({ options: { host, port } }: Redis) =>
    host === subscriber.options.host && port === subscriber.options.port;
  const leave = (node: Redis) => {
    // A node that hangs keeps its connections, and the cluster lists it no longer.
    if (isOurs(node) && subscriber.status === "ready") subscriber.disconnect(true);
  };
  redis.on("-node", leave);
  subscriber.on("close", moveOn);
  subscriber.on("end", () => redis.off("-node", leave));
  return subscriber;
}

/** Any node that the cluster lists now; one that the settings name while it lists none. */
function someNode(redis: Cluster, { servers }: RedisTarget): RedisServer {
  const listed = redis
    .nodes("all")
    .flatMap(({ options: { host, port } }) => (host && port ? [{ host, port }] : []));
  const nodes = listed.length > 0 ? listed : servers;
  return nodes[Math.floor(Math.random() * nodes.length)] ?? { host: "", port: 0 };
}
