import { type Source, Sources } from "../models/source.ts";
import type { Platform } from "../platform.ts";

type Deps = Pick<Platform, "mongo" | "routing">;

const accountsOf = ({ owner_id }: Source) => [owner_id];
const bytesOf = ({ configured_props, dynamic_props }: Source) =>
  configured_props.length + (dynamic_props?.length ?? 0);

/**
 * Returns a source as it is now, whatever its state; null if there is none. From the routing cache, whose version is read
 * for each call: what a change of the source replaced before this call is never returned
 * (docs/decisions/0013-routing-cache.md).
 */
export async function currentSource(platform: Deps, sourceId: string): Promise<Source | null> {
  await platform.routing.refresh();
  const find = async () =>
    byKey(await Sources(platform.mongo).find({ _id: sourceId }).lean<Source[]>(), "_id");
  const found = await platform.routing.lookUp("source", [sourceId], find, accountsOf, bytesOf);
  return found.get(sourceId) ?? null;
}

/** Returns the active sources of these endpoints, by endpoint, as `currentSource` does. */
export async function currentSourcesOf(platform: Deps, endpoints: string[]): Promise<Map<string, Source>> {
  await platform.routing.refresh();
  const find = async (missing: string[]) => {
    const found = Sources(platform.mongo).find({ endpoint: { $in: missing }, active: true, state: "ready" });
    return byKey(await found.lean<Source[]>(), "endpoint");
  };
  return await platform.routing.lookUp("endpoint", endpoints, find, accountsOf, bytesOf);
}

const byKey = (sources: Source[], key: "_id" | "endpoint"): Map<string, Source> =>
  new Map(sources.map(source => [source[key] ?? "", source]));
