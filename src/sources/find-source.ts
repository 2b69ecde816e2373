import { type Source, Sources } from "../models/source.ts";
import type { Platform } from "../platform.ts";
import { pageOf } from "../store/page.ts";

/** Returns the source with this id or name slug if one of these accounts owns it; otherwise null. */
export function findSource(
  platform: Pick<Platform, "mongo">,
  idOrSlug: string,
  owners: string[],
): Promise<Source | null> {
  const filter = idOrSlug.startsWith("dc_") ? { _id: idOrSlug } : { name_slug: idOrSlug };
  return Sources(platform.mongo)
    .findOne({ ...filter, owner_id: { $in: owners }, state: "ready" })
    .lean();
}

/** Returns a page of an account's sources, newest first. */
export function listSources(
  platform: Pick<Platform, "mongo" | "redis" | "keys">,
  owner: string,
  page: Parameters<typeof pageOf>[2],
) {
  return pageOf(Sources(platform.mongo), { owner_id: owner, state: "ready" }, page, {
    countCache: { redis: platform.redis, key: platform.keys.listCount(owner, "sources") },
  });
}
