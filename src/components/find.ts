import { type Component, Components } from "../models/component.ts";
import type { Platform } from "../platform.ts";

/** Returns the published component with a key, or null; if there are several, the one that was published last. */
export function findPublished(platform: Pick<Platform, "mongo">, key: string): Promise<Component | null> {
  return Components(platform.mongo).findOne({ key, published: true }).sort({ updated_at: -1 }).lean();
}

/**
 * Returns a component by its id, or the owners' latest component with the key, or the latest of `otherOwners`, or the
 * published one; otherwise null.
 */
export async function findComponent(
  platform: Pick<Platform, "mongo">,
  idOrKey: string,
  owners: string[],
  otherOwners: string[] = [],
): Promise<Component | null> {
  if (idOrKey.startsWith("sc_")) {
    const readable = { owner_id: { $in: [...owners, ...otherOwners] } };
    return Components(platform.mongo)
      .findOne({ _id: idOrKey, $or: [readable, { published: true }] })
      .lean();
  }
  const own =
    (await findLatest(platform, idOrKey, owners)) ??
    (otherOwners.length > 0 ? await findLatest(platform, idOrKey, otherOwners) : null);
  return own ?? findPublished(platform, idOrKey);
}

function findLatest(
  platform: Pick<Platform, "mongo">,
  key: string,
  owners: string[],
): Promise<Component | null> {
  return (
    Components(platform.mongo)
      .findOne({ owner_id: { $in: owners }, key })
      .sort({ _id: -1 })
      // With few components MongoDB may choose another index, and sort in memory.
      .hint({ owner_id: 1, key: 1, _id: -1 })
      .lean()
  );
}

/**
 * Returns a component of these owners by its id, or null. A key would not do, because several components may have it.
 */
export function findOwnComponent(
  platform: Pick<Platform, "mongo">,
  id: string,
  owners: string[],
): Promise<Component | null> {
  return Components(platform.mongo)
    .findOne({ _id: id, owner_id: { $in: owners } })
    .lean();
}
