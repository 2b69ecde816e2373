import { checkCount } from "../accounts/check-count.ts";
import { newId } from "../lib/ids.ts";
import { unixSeconds } from "../lib/unix-seconds.ts";
import type { AppEventRules } from "../models/app.ts";
import { type Connection, Connections } from "../models/connection.ts";
import type { Platform } from "../platform.ts";
import { checkEventRules } from "./events/rules.ts";
import { checkFields } from "./fields.ts";
import { presentConnection } from "./present.ts";
import type { ConnectionView } from "./schema.ts";
import { keysFields } from "./secrets.ts";

export interface NewKeys {
  ownerId: string;
  userId: string;
  app: string;
  name?: string | undefined;
  fields: Record<string, string>;
  events?: AppEventRules | undefined;
}

/** Creates a connection of kind `keys`. Throws `invalid` that names a field, and `limit-reached`. */
export async function createConnection(
  platform: Pick<Platform, "mongo" | "clock" | "secrets" | "config" | "routing">,
  { ownerId, userId, app, name, fields, events }: NewKeys,
): Promise<ConnectionView> {
  checkFields(fields);
  if (events) checkEventRules(events);
  await checkCount(platform, ownerId, "connections");
  const now = platform.clock();
  const connection: Connection = {
    ...{ _id: newId("apn", now), owner_id: ownerId, user_id: userId, app, kind: "keys", name: name ?? app },
    ...keysFields(platform, fields),
    ...{ scope: null, expires_at_ms: null, renew_from_ms: null, renewed_at_ms: null },
    ...(events && { events }),
    version: 1,
    ...{ created_at: unixSeconds(now), updated_at: unixSeconds(now) },
  };
  await Connections(platform.mongo).insertOne(connection);
  return presentConnection(platform, connection);
}
