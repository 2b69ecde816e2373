import { Cluster, type Redis } from "ioredis";
import { hasNumber, type Part, WHOLE } from "../lib/part.ts";
import type { RedisClient } from "./connections/redis.ts";

interface Node {
  address: string;
  redis: Redis;
}

/** The servers that hold keys, or every so many of them, in a fixed order. */
function masters(client: RedisClient, part: Part): Node[] {
  if (!(client instanceof Cluster)) return [{ address: "", redis: client }];
  return client
    .nodes("master")
    .map(redis => ({ address: `${redis.options.host}:${redis.options.port}`, redis }))
    .sort((one, other) => (one.address < other.address ? -1 : 1))
    .filter((_, number) => hasNumber(part, number));
}

/**
 * Looks at about `count` keys behind a cursor (null: the first ones), one master after the other, or only at those of a part of
 * the masters; returns those that match a pattern, and the cursor of the next ones, null at the end. A key that is there all
 * the time is found at least once, unless it moves to another master, or another server becomes one. Throws `unavailable`.
 */
export async function scanKeys(
  client: RedisClient,
  cursor: string | null,
  pattern: string,
  count: number,
  part = WHOLE,
): Promise<{ found: string[]; next: string | null }> {
  const [address = "", position = "0"] = (cursor ?? "").split(" ");
  const nodes = masters(client, part);
  // A master that is gone is passed over.
  const at = cursor === null ? 0 : nodes.findIndex(node => node.address >= address);
  const node = nodes[at];
  if (!node) return { found: [], next: null };
  const from = node.address === address ? position : "0";
  const [end, found] = await node.redis.scan(from, "MATCH", pattern, "COUNT", count);
  if (end !== "0") return { found, next: `${node.address} ${end}` };
  const following = nodes[at + 1];
  return { found, next: following ? `${following.address} 0` : null };
}
