import { type Connection, Connections } from "../models/connection.ts";
import type { Platform } from "../platform.ts";

/**
 * Returns a connection from the routing cache; undefined if it does not exist. Every change of one invalidates its account's
 * part of the cache.
 */
export async function lookUpConnection(
  platform: Pick<Platform, "mongo" | "routing">,
  id: string,
): Promise<Connection | undefined> {
  const found = await platform.routing.lookUp(
    "connection",
    [id],
    async ids => {
      const connections = await Connections(platform.mongo)
        .find({ _id: { $in: ids } })
        .lean<Connection[]>();
      return new Map(connections.map(connection => [connection._id, connection]));
    },
    ({ owner_id }) => [owner_id],
    ({ secrets }) => secrets.length,
  );
  return found.get(id);
}
