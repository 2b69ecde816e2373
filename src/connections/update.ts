import { invalidField, notFound } from "../lib/errors.ts";
import { unixSeconds } from "../lib/unix-seconds.ts";
import { type Connection, Connections } from "../models/connection.ts";
import type { Platform } from "../platform.ts";
import { checkEventRules } from "./events/rules.ts";
import { checkFields } from "./fields.ts";
import { presentConnection } from "./present.ts";
import type { ConnectionChanges, ConnectionView } from "./schema.ts";
import { keysFields } from "./secrets.ts";

/**
 * Renames a connection, or replaces its fields or how its events are read. Throws `invalid` that names a field, and `not-found` if it has been deleted
 * since.
 */
export async function updateConnection(
  platform: Pick<Platform, "mongo" | "clock" | "secrets" | "routing" | "config">,
  { _id, owner_id, kind }: Connection,
  { name, fields, events }: ConnectionChanges,
): Promise<ConnectionView> {
  if (fields !== undefined) {
    if (kind !== "keys") throw invalidField("body", "fields", "come from the app: reconnect it instead");
    checkFields(fields);
  }
  if (events) checkEventRules(events);
  const updated = await Connections(platform.mongo)
    .findOneAndUpdate(
      { _id },
      {
        $set: {
          ...(name !== undefined && { name }),
          ...(fields !== undefined && keysFields(platform, fields)),
          ...(events !== undefined && { events }),
          updated_at: unixSeconds(platform.clock()),
        },
        ...(fields !== undefined && { $inc: { version: 1 } }),
      },
      { returnDocument: "after" },
    )
    .lean<Connection>();
  if (!updated) throw notFound("connection");
  await platform.routing.invalidate([owner_id]);
  return presentConnection(platform, updated);
}
