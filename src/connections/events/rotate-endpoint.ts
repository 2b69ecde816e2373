import { AppError } from "../../lib/errors.ts";
import { newToken } from "../../lib/ids.ts";
import { unixSeconds } from "../../lib/time.ts";
import { type Connection, Connections } from "../../models/connection.ts";
import { Sources } from "../../models/source.ts";
import type { Platform } from "../../platform.ts";
import { transaction } from "../../store/mongo.ts";
import { presentConnection } from "../connections.ts";
import type { ConnectionView } from "../schema.ts";

/** How long the old address goes on working, as an old signing key goes on signing. Milliseconds. */
const OVERLAP_MS = 86_400_000;

/**
 * Gives a connection another address for its app's events. The old one works for 24 more hours; one that was replaced before
 * that ends at once. Throws `conflict` if it has none yet, or if another request replaced it in between.
 */
export async function rotateEndpoint(
  platform: Pick<Platform, "mongo" | "clock" | "routing" | "config">,
  { _id, owner_id, endpoint }: Connection,
): Promise<ConnectionView> {
  if (endpoint === undefined) {
    throw new AppError(
      "conflict",
      "the connection has no endpoint until a source listens to its app's events",
    );
  }
  const next = newToken();
  const now = platform.clock();
  const updated = await transaction(platform.mongo, async session => {
    const connection = await Connections(platform.mongo)
      .findOneAndUpdate(
        { _id, endpoint },
        {
          $set: {
            endpoint: next,
            old_endpoint: { name: endpoint, until_ms: now + OVERLAP_MS },
            updated_at: unixSeconds(now),
          },
        },
        { returnDocument: "after", session },
      )
      .lean<Connection>();
    if (!connection) throw new AppError("conflict", "the endpoint was changed by another request");
    await Sources(platform.mongo).updateMany(
      { connection_ids: _id, "app_events.connection_id": _id, owner_id },
      { $set: { "app_events.endpoint": next } },
      { session },
    );
    return connection;
  });
  await platform.routing.invalidate([owner_id]);
  return presentConnection(platform, updated);
}
