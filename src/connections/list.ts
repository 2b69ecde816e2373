import { Connections } from "../models/connection.ts";
import type { Platform } from "../platform.ts";
import { mapPage, type Page, type PageRequest, pageOf } from "../store/page.ts";
import { presentConnection } from "./present.ts";
import type { ConnectionView } from "./schema.ts";

/** Returns a page of an account's connections, newest first. */
export async function listConnections(
  platform: Pick<Platform, "mongo" | "redis" | "keys" | "config">,
  ownerId: string,
  page: PageRequest,
): Promise<Page<ConnectionView>> {
  const found = await pageOf(Connections(platform.mongo), { owner_id: ownerId }, page, {
    countCache: { redis: platform.redis, key: platform.keys.listCount(ownerId, "connections") },
  });
  return mapPage(found, connection => presentConnection(platform, connection));
}
