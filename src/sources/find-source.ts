import { MAX_NAMED, meantBy } from "../accounts/access.ts";
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

type CurrentDeps = Pick<Platform, "mongo" | "routing">;

const accountsOf = ({ owner_id }: Source) => [owner_id];
const bytesOf = ({ configured_props, dynamic_props }: Source) =>
  configured_props.length + (dynamic_props?.length ?? 0);

/**
 * Returns a source as it is now, whatever its state; null if there is none. From the routing cache, whose version is read
 * for each call: what a change of the source replaced before this call is never returned
 * (docs/decisions/0013-routing-cache.md).
 */
export async function currentSource(platform: CurrentDeps, sourceId: string): Promise<Source | null> {
  await platform.routing.refresh();
  const find = async () =>
    byKey(await Sources(platform.mongo).find({ _id: sourceId }).lean<Source[]>(), "_id");
  const found = await platform.routing.lookUp("source", [sourceId], find, accountsOf, bytesOf);
  return found.get(sourceId) ?? null;
}

/** Returns the active sources of these endpoints, by endpoint, as `currentSource` does. */
export async function currentSourcesOf(
  platform: CurrentDeps,
  endpoints: string[],
): Promise<Map<string, Source>> {
  await platform.routing.refresh();
  const find = async (missing: string[]) => {
    const found = Sources(platform.mongo).find({ endpoint: { $in: missing }, active: true, state: "ready" });
    return byKey(await found.lean<Source[]>(), "endpoint");
  };
  return await platform.routing.lookUp("endpoint", endpoints, find, accountsOf, bytesOf);
}

const byKey = (sources: Source[], key: "_id" | "endpoint"): Map<string, Source> =>
  new Map(sources.map(source => [source[key] ?? "", source]));
