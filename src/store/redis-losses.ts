import { Cluster, type Redis } from "ioredis";
import type { RedisClient } from "./redis.ts";

/**
 * Returns a function that returns the Unix milliseconds since which this client has had all of its masters without a break,
 * by `clock`. What was written before may have been lost with a master (docs/decisions/0036-loss-at-failover.md); what was
 * written since is known to Redis.
 */
export function watchLosses(redis: RedisClient, clock: () => number): () => number {
  let since = clock();
  const note = () => {
    since = clock();
  };
  // When the next connection is ready, too: until then other processes may have written to a master that was lost later.
  const watch = (node: Redis) => void node.on("close", note).on("ready", note);
  if (!(redis instanceof Cluster)) {
    watch(redis);
    return () => since;
  }
  for (const node of redis.nodes("all")) watch(node);
  redis.on("+node", watch);
  // A master that hangs keeps its connection for some seconds after another one has taken its place.
  const masters = () =>
    redis
      .nodes("master")
      .map(({ options }) => `${options.host}:${options.port}`)
      .sort()
      .join();
  let known = masters();
  redis.on("refresh", () => {
    const now = masters();
    if (now !== known) note();
    known = now;
  });
  return () => since;
}
