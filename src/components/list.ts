import { Components } from "../models/component.ts";
import type { Platform } from "../platform.ts";
import { pageOf } from "../store/page.ts";
import type { ComponentType } from "./is-action.ts";

/** Returns a page of an account's components, newest first; with `type` only those. */
export function listComponents(
  platform: Pick<Platform, "mongo" | "redis" | "keys">,
  owner: string,
  page: Parameters<typeof pageOf>[2],
  type?: ComponentType,
) {
  const filter = { owner_id: owner, ...(type && { "description.type": { $in: WRITTEN[type] } }) };
  const list = type ? `components-${type}` : "components";
  return pageOf(Components(platform.mongo), filter, page, {
    countCache: { redis: platform.redis, key: platform.keys.listCount(owner, list) },
  });
}

/** What the code of each type says; null: nothing. */
const WRITTEN: Record<ComponentType, (string | null)[]> = { action: ["action"], source: ["source", null] };
