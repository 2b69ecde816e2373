import { Components } from "../models/component.ts";
import type { Platform } from "../platform.ts";
import { pageOf } from "../store/page.ts";

/** Returns a page of an account's components, newest first. */
export function listComponents(
  platform: Pick<Platform, "mongo" | "redis" | "keys">,
  owner: string,
  page: Parameters<typeof pageOf>[2],
) {
  return pageOf(Components(platform.mongo), { owner_id: owner }, page, {
    countCache: { redis: platform.redis, key: platform.keys.listCount(owner, "components") },
  });
}
