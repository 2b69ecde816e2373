import { type Connection, Connections } from "../models/connection.ts";
import type { Platform } from "../platform.ts";

/** Returns a connection of one of these owners, otherwise null (docs/design.md#guarantee-6). */
export async function findConnection(
  platform: Pick<Platform, "mongo">,
  id: string,
  owners: string[],
): Promise<Connection | null> {
  return await Connections(platform.mongo)
    .findOne({ _id: id, owner_id: { $in: owners } })
    .lean();
}

/** The access rule of routes whose path names a connection. */
export const ownConnection = { kind: "resource", what: "connection", load: findConnection } as const;
