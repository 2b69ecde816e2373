import { AppError } from "../lib/errors.ts";
import { type Connection, Connections } from "../models/connection.ts";
import { Sources } from "../models/source.ts";
import { Webhooks } from "../models/webhook.ts";
import type { Platform } from "../platform.ts";
import { transaction } from "../store/mongo.ts";

/** Sources that a `conflict` names. */
const MAX_NAMED = 10;

/**
 * Deletes a connection. Throws `conflict` that names the sources and actions which use it, unless it is deleted by force: then their runs
 * fail. The token stays valid with the app until it ends or is revoked there.
 */
export async function deleteConnection(
  platform: Pick<Platform, "mongo" | "routing">,
  { _id, owner_id }: Connection,
  { force }: { force: boolean },
): Promise<void> {
  await transaction(platform.mongo, async session => {
    // First: a source that is given it at the same moment marks it (src/connections/check.ts), and one of the two fails.
    await Connections(platform.mongo).deleteOne({ _id }, { session });
    if (force) return;
    const users = await Sources(platform.mongo)
      .find({ connection_ids: _id, state: { $ne: "deleting" } }, { name: 1 }, { session })
      .limit(MAX_NAMED + 1)
      .lean();
    const actions = await Webhooks(platform.mongo)
      .find({ owner_id, connection_ids: _id }, { name: 1 }, { session })
      .limit(MAX_NAMED + 1)
      .lean();
    const all = [...users, ...actions];
    if (all.length > 0) throw inUse(all);
  });
  await platform.routing.invalidate([owner_id]);
}

function inUse(users: { _id: string; name: string | null }[]): AppError {
  const named = users.slice(0, MAX_NAMED).map(({ _id, name }) => (name === null ? _id : `${name} (${_id})`));
  const list = users.length > MAX_NAMED ? [...named, "others"] : named;
  return new AppError(
    "conflict",
    `the connection is used by ${list.join(", ")}: give them another one, or delete it with force=true`,
  );
}
