import { AppError } from "../lib/errors.ts";
import { isId } from "../lib/ids.ts";
import { type Source, Sources } from "../models/source.ts";
import type { Platform } from "../platform.ts";
import { pageOf } from "../store/page.ts";

type Deps = Pick<Platform, "mongo">;

/** Sources with one slug that a `conflict` names; a user may be a member of very many organizations. */
const MAX_NAMED = 10;

/**
 * Returns the source with this id or name slug if one of these accounts owns it; otherwise null. Each account has its
 * own slugs: a source of the first account comes before those of the others. Throws `conflict` if several of the others
 * have a source with the slug (docs/rest-api.md#sources).
 */
export async function findSource(platform: Deps, idOrSlug: string, owners: string[]): Promise<Source | null> {
  const [first = "", ...others] = owners;
  if (isId("dc", idOrSlug)) return findSourceToChange(platform, idOrSlug, owners);
  const [own] = await findAll(platform, idOrSlug, [first]);
  return own ?? onlyOne(await findAll(platform, idOrSlug, others));
}

/**
 * Like `findSource`, for a request that changes the source: throws `conflict` also if the first account is only one of
 * several that have a source with the slug, because the request can't be taken back.
 */
export async function findSourceToChange(
  platform: Deps,
  idOrSlug: string,
  owners: string[],
): Promise<Source | null> {
  return onlyOne(await findAll(platform, idOrSlug, owners));
}

function findAll(platform: Deps, idOrSlug: string, owners: string[]): Promise<Source[]> {
  const filter = isId("dc", idOrSlug) ? { _id: idOrSlug } : { name_slug: idOrSlug };
  return Sources(platform.mongo)
    .find({ ...filter, owner_id: { $in: owners }, state: "ready" })
    .limit(MAX_NAMED)
    .lean();
}

function onlyOne(sources: Source[]): Source | null {
  const [source = null, ...others] = sources;
  if (others.length === 0) return source;
  const named = sources.map(({ _id, owner_id }) => `${_id} of ${owner_id}`).join(", ");
  throw new AppError("conflict", `several sources have this slug: ${named}; use the id, or org_id`);
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
