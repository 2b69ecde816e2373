import { MAX_NAMED, meantBy } from "../accounts/meant-by.ts";
import { isId } from "../lib/ids.ts";
import { type Source, Sources } from "../models/source.ts";
import type { Platform } from "../platform.ts";
import { pageOf } from "../store/page.ts";

type Deps = Pick<Platform, "mongo">;

/**
 * Returns the source with this id or name slug if one of these accounts owns it; otherwise null. Each account has its
 * own slugs: a source of the first account comes before those of the others. Throws `conflict` if several of the others
 * have a source with the slug (docs/rest-api.md#sources).
 */
export const findSource = (platform: Deps, idOrSlug: string, owners: string[]): Promise<Source | null> =>
  find(platform, idOrSlug, owners, true);

/**
 * Like `findSource`, for a request that changes the source: throws `conflict` also if the first account is only one of
 * several that have a source with the slug.
 */
export const findSourceToChange = (
  platform: Deps,
  idOrSlug: string,
  owners: string[],
): Promise<Source | null> => find(platform, idOrSlug, owners, false);

async function find(platform: Deps, idOrSlug: string, owners: string[], reads: boolean) {
  const { mongo } = platform;
  if (isId("dc", idOrSlug)) {
    return await Sources(mongo)
      .findOne({ _id: idOrSlug, owner_id: { $in: owners }, state: "ready" })
      .lean();
  }
  const [account = "", ...others] = owners;
  const named = { name_slug: idOrSlug, state: "ready" } as const;
  const [own, ofOthers] = await Promise.all([
    Sources(mongo)
      .findOne({ ...named, owner_id: account })
      .lean(),
    others.length === 0
      ? []
      : Sources(mongo)
          .find({ ...named, owner_id: { $in: others } })
          .limit(MAX_NAMED)
          .lean(),
  ]);
  return meantBy(`the slug ${idOrSlug}`, own ? [own, ...ofOthers] : ofOthers, { account, reads });
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
